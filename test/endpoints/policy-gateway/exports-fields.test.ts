import t from 'tap';
import { openDesk, refuses, splunk } from './exports-desk.js';

t.test('D11 a configuration that is no object, and keys nobody knows, are named', async (t) => {
  const desk = openDesk(t);
  const { id } = await desk.create(splunk());
  for (const config of [[], ['a'], 'text', 7]) {
    const wrong = { status: 422, code: 'invalid_parameter', param: 'config' };
    await refuses(t, desk.update(id, { config }), wrong);
    await refuses(t, desk.create({ ...splunk(), config }), wrong);
  }
  for (const key of ['foo', 'constructor', 'prototype', '__proto__']) {
    const more: unknown = JSON.parse(`{"${key}":{"polluted":true}}`);
    const wrong = { status: 422, code: 'invalid_parameter', param: `config.${key}` };
    await refuses(t, desk.update(id, { config: more }), wrong);
    const config = { ...splunk().config, ...(more as object) };
    await refuses(t, desk.create({ ...splunk(), config }), wrong);
  }
  t.notOk('polluted' in {});
  t.strictSame(Object.keys((await desk.get(id)).config).sort(), [
    'ack',
    'endpoint',
    'gzip',
    'source',
    'sourcetype',
    'token',
  ]);
});
