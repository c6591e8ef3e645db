import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createMetrics } from '../../src/io/metrics/metrics.js';
import { readRepositoryFile, repositoryRoot } from '../support/repository.js';

const folder = join(repositoryRoot, 'deploy/prometheus');
const promtool = (...args: string[]) => spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
const missing = promtool('--version').error !== undefined && 'promtool is not installed';

t.test('every series the alerts ask for is one the gateway gives', async (t) => {
  const metrics = createMetrics({ version: '0' });
  const { text } = await metrics.render();
  metrics.close();
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
  const { groups } = parse(readRepositoryFile('deploy/prometheus/rules.yml')) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  t.ok(rules.length >= 5);
  for (const { alert, expr, annotations } of rules) {
    const asked = expr.match(/\b(?:sluice|nodejs|process)_[a-z0-9_]+/g) ?? [];
    const unknown = asked.filter((name) => !known.has(name.replace(/_bucket$/, '')));
    t.same(unknown, [], alert);
    t.ok(annotations.summary);
  }
});

t.test('promtool accepts the scrape configuration and the rules', { skip: missing }, async (t) => {
  const config = promtool('check', 'config', 'prometheus.yml');
  t.equal(config.status, 0, config.stdout + config.stderr);
});

t.test('the alerts fire when they should, and not before', { skip: missing }, async (t) => {
  const tests = promtool('test', 'rules', 'rules.test.yml');
  t.equal(tests.status, 0, tests.stdout + tests.stderr);
});

t.test('the job for Kubernetes finds the port that the manifests name', async (t) => {
  const job = readRepositoryFile('deploy/prometheus/kubernetes.yml');
  t.match(job, /regex: sluice-admin/);
  for (const file of ['sidecar.yaml', 'standalone.yaml'])
    t.match(readRepositoryFile(`deploy/kubernetes/${file}`), /name: sluice-admin, containerPort: 9090/);
});
