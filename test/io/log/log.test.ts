import { Writable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { createLog, type LogOptions } from '../../../src/io/log/log.js';

type Line = Record<string, unknown>;

function capture(options: Partial<LogOptions> = {}) {
  const chunks: string[] = [];
  const log = createLog({
    level: 'info',
    format: 'json',
    version: '1.2.3',
    stream: { write: (line: string) => void chunks.push(line) },
    ...options,
  });
  const text = () => chunks.join('');
  const lines = () => chunks.map((line) => JSON.parse(line) as Line);
  return { log, text, lines };
}

t.test('a line is one JSON object that says when, how grave, from whom and what', async (t) => {
  const { log, text, lines } = capture();
  log.info({ provider: 'sim', port: 8080 }, 'listening');
  t.match(lines()[0], {
    level: 'info',
    service: 'sluice',
    version: '1.2.3',
    provider: 'sim',
    port: 8080,
    msg: 'listening',
  });
  t.match(lines()[0]?.['time'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.equal(text().split('\n').length, 2, 'one newline, at the end');
  t.notOk('pid' in lines()[0]! || 'hostname' in lines()[0]!);
});

t.test('the level can be changed while running', async (t) => {
  const { log, lines } = capture();
  log.debug({}, 'not written');
  log.setLevel('debug');
  log.debug({}, 'written');
  log.setLevel('silent');
  log.error({}, 'not written');
  t.same(
    lines().map((line) => line['msg']),
    ['written'],
  );
});

t.test('2.2 only listed fields are written, and the names of the others tell the developer', async (t) => {
  const { log, text, lines } = capture();
  log.warn(
    {
      provider: 'sim',
      headers: { authorization: 'Bearer canary-secret' },
      authorization: 'canary-secret',
      body: 'canary-secret',
      'canary-secret': 1,
      model: { toJSON: () => 'canary-secret' },
      faults: ['a fault', { secret: 'canary-secret' }],
    },
    'careless',
  );
  t.notMatch(text(), 'canary-secret');
  t.match(lines()[0], {
    provider: 'sim',
    model: '[object]',
    faults: ['a fault', '[object]'],
    dropped_fields: ['headers', 'authorization', 'body'],
  });
});

t.test(
  '2.2 an error shows type, message, code, stack and causes, and nothing a library hung on it',
  async (t) => {
    const { log, text, lines } = capture();
    const cause = Object.assign(new TypeError('socket closed'), {
      code: 'UND_ERR_SOCKET',
      headers: 'canary-secret',
    });
    const error = Object.assign(new Error('the upstream failed', { cause }), {
      request: { headers: { authorization: 'canary-secret' } },
      response: { body: 'canary-secret' },
      toJSON: () => 'canary-secret',
    });
    log.error({ err: error }, 'failed');
    t.match(lines()[0], {
      err: {
        type: 'Error',
        message: 'the upstream failed',
        stack: /log\.test/,
        cause: { type: 'TypeError', message: 'socket closed', code: 'UND_ERR_SOCKET' },
      },
    });
    t.notMatch(text(), 'canary-secret');
  },
);

t.test('an error that is its own cause is written and ends', async (t) => {
  const { log, lines } = capture();
  const error = new Error('round');
  error.cause = error;
  log.error({ err: error }, 'failed');
  log.error({ err: { authorization: 'canary-secret' } }, 'thrown object');
  log.error({ err: 'thrown text' }, 'thrown text');
  t.equal(lines().length, 3);
  t.same(lines()[1]?.['err'], { type: 'object', message: '[not an error]' });
  t.same(lines()[2]?.['err'], { type: 'string', message: 'thrown text' });
});

t.test('2.3 no text can forge a second line or steer a terminal, in either format', async (t) => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\n', '\r', '\u001b[2J', '\u009b', '\u2028', '\u202e', '\u0000'),
      fc.string({ unit: 'grapheme' }),
    ),
  });
  for (const format of ['json', 'pretty'] as const) {
    fc.assert(
      fc.property(hostile, hostile, (field, message) => {
        const { log, text } = capture({ format });
        log.info({ model: field }, message);
        const line = text();
        return line.endsWith('\n') && !/[\p{Cc}\u2028\u2029\u202a-\u202e]/u.test(line.slice(0, -1));
      }),
      { numRuns: 300 },
    );
  }
  t.pass('600 hostile lines stayed one line each');
});

t.test('2.3 long values are cut', async (t) => {
  const { log, lines } = capture();
  log.info({ model: 'm'.repeat(10_000) }, 'x'.repeat(10_000));
  t.equal(lines()[0]?.['model'], `${'m'.repeat(256)}...`);
  t.equal(lines()[0]?.['msg'], `${'x'.repeat(1_000)}...`);
});

t.test('the pretty form is one readable line, with the stack of an error below it', async (t) => {
  const { log, text } = capture({ format: 'pretty' });
  log.info({ provider: 'sim' }, 'listening');
  t.match(text(), /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: listening \{"provider":"sim"\}\n$/);
  log.error({ err: new Error('broken') }, 'failed');
  t.match(text(), /ERROR: failed/);
  t.match(text(), /"stack":\n\s+Error: broken\n\s+at /);
});

t.test('auto is JSON where the output is no terminal', async (t) => {
  const { log, lines } = capture({ format: 'auto' });
  log.info({}, 'hello');
  t.equal(lines()[0]?.['msg'], 'hello');
});

t.test('a node stream can be the destination', async (t) => {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const { log } = capture({ stream });
  log.info({}, 'hello');
  t.match(text, '"msg":"hello"');
});
