import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import { createMetrics, type Metrics } from '../../../src/io/metrics/metrics.js';
import { readExposition, valueOf, type Sample } from '../../support/exposition.js';
import { readRepositoryFile } from '../../support/repository.js';

function open(t: { teardown: (undo: () => void) => void }): {
  metrics: Metrics;
  read: () => Promise<Sample[]>;
} {
  const metrics = createMetrics({ version: '1.2.3' });
  t.teardown(() => metrics.close());
  return { metrics, read: async () => readExposition((await metrics.render()).text) };
}

t.test('a request is counted by operation and status, and timed', async (t) => {
  const { metrics, read } = open(t);
  metrics.requestStarted('create_message');
  metrics.requestStarted('create_message');
  t.equal(valueOf(await read(), 'sluice_requests_in_flight', { operation: 'create_message' }), 2);
  metrics.requestFinished('create_message', 200, 1.5, 0.0004);
  metrics.requestFinished('create_message', 529, 700, 2);
  const samples = await read();
  const operation = 'create_message';
  t.equal(valueOf(samples, 'sluice_requests_in_flight', { operation }), 0);
  t.equal(valueOf(samples, 'sluice_requests_total', { operation, status: '200' }), 1);
  t.equal(valueOf(samples, 'sluice_requests_total', { operation, status: '529' }), 1);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_count', { operation }), 2);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_sum', { operation }), 701.5);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_bucket', { operation, le: '1' }), 0);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_bucket', { operation, le: '2.5' }), 1);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_bucket', { operation, le: '600' }), 1);
  t.equal(valueOf(samples, 'sluice_request_duration_seconds_bucket', { operation, le: '+Inf' }), 2);
  t.equal(valueOf(samples, 'sluice_overhead_seconds_bucket', { operation, le: '0.00025' }), 0);
  t.equal(valueOf(samples, 'sluice_overhead_seconds_bucket', { operation, le: '0.0005' }), 1);
});

t.test('tokens are counted once by kind, reasoning as output', async (t) => {
  const { metrics, read } = open(t);
  metrics.tokens('sim-small', { input: 10, cacheRead: 20, cacheWrite: 30, output: 40, reasoning: 15 });
  metrics.tokens('sim-small', { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 });
  metrics.firstToken('sim-small', 0.3);
  const samples = await read();
  const model = 'sim-small';
  t.same(
    samples
      .filter(({ name }) => name === 'sluice_tokens_total')
      .map(({ labels, value }) => [labels['kind'], value]),
    [
      ['input', 11],
      ['cache_read', 20],
      ['cache_write', 30],
      ['output', 42],
    ],
  );
  t.equal(valueOf(samples, 'sluice_time_to_first_token_seconds_bucket', { model, le: '0.4' }), 1);
  t.equal(valueOf(samples, 'sluice_time_to_first_token_seconds_bucket', { model, le: '0.2' }), 0);
});

t.test('a provider shows its attempts, its time and the state of its circuit', async (t) => {
  const { metrics, read } = open(t);
  metrics.upstreamAttempt('sim', 'ok', 0.02);
  metrics.upstreamAttempt('sim', 'connect', 5);
  metrics.circuit('sim', true);
  const samples = await read();
  const provider = 'sim';
  t.equal(valueOf(samples, 'sluice_upstream_attempts_total', { provider, outcome: 'ok' }), 1);
  t.equal(valueOf(samples, 'sluice_upstream_attempts_total', { provider, outcome: 'connect' }), 1);
  t.equal(valueOf(samples, 'sluice_upstream_duration_seconds_count', { provider }), 2);
  t.equal(valueOf(samples, 'sluice_circuit_open', { provider }), 1);
});

t.test('reloads, degradation, refused credentials, bytes and the build are told', async (t) => {
  const { metrics, read } = open(t);
  t.equal(
    valueOf(await read(), 'sluice_config_reloads_total', { result: 'refused' }),
    0,
    'there before the first',
  );
  metrics.configReload(true);
  metrics.configReload(false);
  metrics.degraded('store', true);
  metrics.authFailures('invalid_api_key');
  metrics.streamBytes(1_000);
  let samples = await read();
  t.equal(valueOf(samples, 'sluice_config_reloads_total', { result: 'applied' }), 1);
  t.equal(valueOf(samples, 'sluice_config_reloads_total', { result: 'refused' }), 1);
  t.equal(valueOf(samples, 'sluice_degraded', { what: 'store' }), 1);
  t.equal(valueOf(samples, 'sluice_auth_failures_total', { code: 'invalid_api_key' }), 1);
  t.equal(valueOf(samples, 'sluice_stream_bytes_total'), 1_000);
  t.equal(valueOf(samples, 'sluice_build_info', { version: '1.2.3', node: process.version }), 1);
  t.ok(samples.some(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds'));
  t.ok(samples.some(({ name }) => name === 'process_cpu_seconds_total'));
  metrics.degraded('store', false);
  samples = await read();
  t.equal(valueOf(samples, 'sluice_degraded', { what: 'store' }), 0);
});

t.test('36 ten thousand odd names do not grow the number of series', async (t) => {
  const { metrics, read } = open(t);
  const use = (name: string, i: number) => {
    metrics.requestStarted(name);
    metrics.requestFinished(name, 200, 1, 0.001);
    metrics.requestFinished('create_message', i * 7 - 3, 1, 0.001);
    metrics.firstToken(name, 1);
    metrics.tokens(name, { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 });
    metrics.upstreamAttempt(name, name, 1);
    metrics.circuit(name, true);
    metrics.degraded(name, true);
    metrics.authFailures(name);
  };
  for (let i = 0; i < 1_000; i++) use(`name-${i}`, i);
  const before = (await read()).length;
  for (let i = 0; i < 10_000; i++) use(`odd "${i}"\n\\${'x'.repeat(i % 300)}`, i);
  const samples = await read();
  t.equal(samples.length, before);
  t.equal(
    samples
      .filter(({ name, labels }) => name === 'sluice_tokens_total' && labels['kind'] === 'input')
      .reduce((sum, { value }) => sum + value, 0),
    11_000,
    'what had no series of its own is counted as other',
  );
  t.ok(new Set(samples.map(({ labels }) => labels['model']).filter(Boolean)).size <= 201);
});

t.test('names that are keys of Object.prototype are names like any other', async (t) => {
  const { metrics, read } = open(t);
  for (const name of ['__proto__', 'constructor', 'toString', ''])
    metrics.tokens(name, { input: 1, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 });
  t.equal(valueOf(await read(), 'sluice_tokens_total', { model: 'constructor', kind: 'input' }), 1);
});

t.test('every observation falls into exactly one bucket, the smallest that holds it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { maxLength: 30 }),
      async (values) => {
        const metrics = createMetrics({ version: '0' });
        for (const value of values) metrics.requestFinished('o', 200, 1, value);
        const samples = readExposition((await metrics.render()).text);
        metrics.close();
        return samples
          .filter(({ name }) => name === 'sluice_overhead_seconds_bucket')
          .every(
            ({ labels, value: count }) =>
              count ===
              values.filter((value) => labels['le'] === '+Inf' || value <= Number(labels['le'])).length,
          );
      },
    ),
    { numRuns: 30 },
  );
});

t.test('docs/operating.md lists every series of the gateway, with its labels and type', async (t) => {
  const { metrics } = open(t);
  metrics.requestStarted('o');
  metrics.requestFinished('o', 200, 1, 1);
  metrics.firstToken('m', 1);
  metrics.tokens('m', { input: 1, cacheRead: 1, cacheWrite: 1, output: 1, reasoning: 1 });
  metrics.upstreamAttempt('p', 'ok', 1);
  metrics.circuit('p', false);
  metrics.degraded('store', false);
  metrics.authFailures('invalid_api_key');
  metrics.limits.decision('inference', 'refused', 'key', 'rpm');
  metrics.limits.fallback('inference', 'admitted');
  metrics.limits.settled('settled', 1);
  metrics.policing.decision('refuse', 'refuse', 'enforced', 'request');
  metrics.policing.category('hate');
  metrics.policing.fault('rule');
  metrics.policing.audit.sink('exp_1', { queued: 1, oldestMs: 1, lastSuccessS: 1, errors: { retry: 1 } });
  metrics.policing.audit.trouble('missed', 0);
  const { text } = await metrics.render();
  const samples = readExposition(text);
  const given = [...text.matchAll(/^# TYPE (sluice_\S+) (\S+)/gm)].map(([, name, type]) => {
    const sample = samples.find((each) => each.name === name || each.name === `${name!}_sum`)!;
    const labels = Object.keys(sample.labels).join(',');
    return `${name!}${labels === '' ? '' : `{${labels}}`} ${type!}`;
  });
  const listed = [...readRepositoryFile('docs/operating.md').matchAll(/^\| `(sluice_[^`]+)` +\| (\w+)/gm)];
  t.same(listed.map(([, series, type]) => `${series!} ${type!}`).sort(), given.sort());
});

const promtool = spawnSync('promtool', ['--version']).error === undefined;
t.test(
  "Prometheus's own reader and linter find nothing to say",
  { skip: !promtool && 'promtool is not installed' },
  async (t) => {
    const { metrics } = open(t);
    metrics.requestStarted('create_message');
    metrics.requestFinished('create_message', 200, 1, 0.001);
    metrics.tokens('odd "name"\n', { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 });
    metrics.upstreamAttempt('sim', 'ok', 1);
    metrics.circuit('sim', false);
    metrics.degraded('store', false);
    const { text, contentType } = await metrics.render();
    t.match(contentType, /^text\/plain; version=0\.0\.4/);
    const own = text.split('\n\n').filter((family) => family.includes('sluice_'));
    const check = spawnSync('promtool', ['check', 'metrics'], {
      input: `${own.join('\n')}\n`,
      encoding: 'utf8',
    });
    t.equal(check.stdout + check.stderr, '');
    t.equal(check.status, 0);
    const whole = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    t.notMatch(whole.stderr, 'error while linting', 'the whole exposition parses');
  },
);
