import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runGateway } from '../support/gateway.js';
import { freePort } from '../support/ports.js';

const missing =
  spawnSync('prometheus', ['--version']).error !== undefined &&
  'prometheus is not on PATH (on Debian and Ubuntu, npm test installs it when run as root)';

interface QueryAnswer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: [number, string];
    }[];
  };
}

/** A real Prometheus on loopback that scrapes one address many times a second. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '250ms', scrape_timeout: '250ms' },
      scrape_configs: [{ job_name: 'sluice', static_configs: [{ targets: [target] }] }],
    }),
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const exited = once(child, 'exit');

  /** Asks until there is a result, or the process ends. */
  const query = async (expression: string): Promise<QueryAnswer['data']['result']> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    while (child.exitCode === null) {
      const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => null);
      const { data } = answer?.ok ? ((await answer.json()) as QueryAnswer) : { data: { result: [] } };
      if (data.result.length > 0) return data.result;
      await sleep(100);
    }
    throw new Error(`prometheus ended with ${child.exitCode}`);
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { query, stop };
}

t.test('a real Prometheus scrapes /metrics and sees the requests', { skip: missing }, async (t) => {
  const running = await runGateway(t);
  for (const stream of [false, true]) {
    const answer = await running.post('/v1/messages', {
      model: 'sim-small',
      max_tokens: 16,
      stream,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    t.equal(answer.status, 200);
    await answer.text();
  }
  const prometheus = await startPrometheus(new URL(running.url).host);
  t.teardown(() => prometheus.stop());

  t.equal((await prometheus.query('up{job="sluice"} == 1')).length, 1, 'the target is up');
  const requests = await prometheus.query('sluice_requests_total{operation="messages"} >= 2');
  t.match(requests, [{ metric: { status: '200' }, value: [Number, '2'] }]);
  const tokens = await prometheus.query('sluice_tokens_total{model="sim-small", kind="output"} > 0');
  t.equal(tokens.length, 1);
  const overhead = await prometheus.query(
    'histogram_quantile(0.5, sum by (le) (sluice_overhead_seconds_bucket{operation="messages"})) > 0',
  );
  t.equal(overhead.length, 1, 'its histograms add up');
});
