import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { welcome, welcomeText } from '../../src/commands/welcome.js';
import { until } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { sluice, startSluice } from './sluice.js';

const BODY = JSON.stringify({
  model: 'sim-small',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'Hello!' }],
});

const config = (port: number, more = ''): string => `version: 1
server: { port: ${port} }
store: { path: ./store }
bootstrap:
  organizations:
    - id: org_demo
      name: Demo
      admin_keys: [{ name: root }]
      projects: [{ id: proj_app, name: App, keys: [{ name: app }] }]
${more}`;

/** A gateway in a process of its own, ready to answer. */
async function serving(t: Test, more = '') {
  const port = await freePort();
  const folder = t.testdir({ 'gateway.yaml': config(port, more) });
  const file = join(folder, 'gateway.yaml');
  const running = startSluice(['--config', file]);
  t.teardown(() => void running.child.kill('SIGKILL'));
  await until(
    () => running.out().includes('"listening"') || running.child.exitCode !== null,
    'listening',
    30_000,
  );
  return { ...running, port, folder, file };
}

t.test(
  'D45 serve answers with a generated key, kept in a 0600 file where nobody reads the terminal',
  async (t) => {
    const { child, out, finished, port, file } = await serving(t);
    await until(() => out().includes('The generated keys are in'), 'keys');
    const keys = /The generated keys are in (\S+);/.exec(out())![1]!;
    t.equal(statSync(keys).mode & 0o777, 0o600);
    const text = readFileSync(keys, 'utf8');
    const key = /^ {4}(sk-sl-(?!admin)\S+)$/m.exec(text)![1]!;
    t.notMatch(out(), key, 'no secret in the output');

    const answer = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: BODY,
    });
    t.equal(answer.status, 200);
    t.match(await answer.json(), { type: 'message', role: 'assistant' });

    t.match(await sluice(['healthcheck', '--config', file]), { code: 0, out: 'ok\n' });
    t.match(await sluice(['healthcheck', '--ready', '--config', file]), { code: 0 });
    child.kill('SIGTERM');
    const { code } = await finished;
    t.equal(code, 0);
    t.match(await sluice(['healthcheck', '--config', file]), { code: 1, err: /ECONNREFUSED/ });
  },
);

t.test('D46 a running gateway takes a changed file, and keeps the old one when it is bad', async (t) => {
  const { child, out, finished, port, file } = await serving(t);
  writeFileSync(file, config(port, 'limitss: {}\n'));
  child.kill('SIGHUP');
  await until(() => out().includes('the old one stays in force'), 'the fault');
  t.match(out(), /limitss: is not a known key; did you mean limits\?/);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  t.match(metrics, /sluice_config_reloads_total\{result="refused"\} [1-9]/, 'and an alert can tell');
  writeFileSync(file, config(port, 'telemetry: { logs: { level: debug } }\n'));
  await until(() => out().includes('the new configuration is in force'), 'the change, unasked');
  child.kill('SIGINT');
  t.match(await finished, { code: 0 });
});

t.test('D45 a start that cannot succeed says why: 2 for the configuration, 1 for the rest', async (t) => {
  const bad = join(t.testdir({ 'bad.yaml': 'version: 1\nservr: {}\n' }), 'bad.yaml');
  t.match(await sluice(['serve', '--config', bad]), { code: 2, out: '', err: /bad\.yaml:2:1 servr: / });
  const first = await serving(t);
  t.match(await sluice(['serve', '--config', first.file]), {
    code: 1,
    err: /^sluice: .*in use by another Sluice/,
  });
  first.child.kill('SIGTERM');
  t.match(await first.finished, { code: 0 });
});

const greeting = {
  address: { host: '0.0.0.0', port: 8080 },
  secure: false,
  model: 'sim-small',
  madeKeys: [
    { organizationId: 'org_demo', projectId: null, kind: 'admin', name: 'root', secret: 'sk-sl-admin-1' },
    { organizationId: 'org_demo', projectId: 'proj_app', kind: 'project', name: 'app', secret: 'sk-sl-2' },
  ],
} as const;

t.test(
  'D45 a first run tells the keys, a call to each inference endpoint and where SDKs are pointed',
  async (t) => {
    t.equal(
      welcomeText(greeting),
      `
Sluice listens on http://127.0.0.1:8080

Keys, shown only this once:

  admin key "root" of org_demo
    sk-sl-admin-1
  project key "app" of proj_app
    sk-sl-2

Try it:

curl http://127.0.0.1:8080/v1/messages -H 'authorization: Bearer sk-sl-2' -H 'content-type: application/json' -d '{"model":"sim-small","max_tokens":64,"messages":[{"role":"user","content":"Hello!"}]}'

curl http://127.0.0.1:8080/v1/chat/completions -H 'authorization: Bearer sk-sl-2' -H 'content-type: application/json' -d '{"model":"sim-small","messages":[{"role":"user","content":"Hello!"}]}'

curl http://127.0.0.1:8080/v1/responses -H 'authorization: Bearer sk-sl-2' -H 'content-type: application/json' -d '{"model":"sim-small","input":"Hello!"}'

Point an SDK at it (the project key is its API key):

  ANTHROPIC_BASE_URL=http://127.0.0.1:8080
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1
`,
    );
  },
);

t.test('D45 keys go to a terminal, or to a file; never to a pipe', async (t) => {
  const folder = t.testdir({ 'a-file': '' });
  const tell = (isInteractive: boolean, into: string) => {
    let said = '';
    const speak = (text: string) => void (said += text);
    welcome(greeting, into, { out: speak, err: speak, isInteractive, environment: {} });
    return said;
  };
  t.match(tell(true, folder), 'sk-sl-2');
  t.notMatch(tell(false, folder), 'sk-sl-2');
  const nowhere = tell(false, join(folder, 'a-file'));
  t.match(nowhere, /could not be written .* sluice keys create/);
  t.notMatch(nowhere, 'sk-sl-2');
});
