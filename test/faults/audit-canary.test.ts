import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gather, startTargets, type Target } from '../support/audit/arrivals.js';
import { addFiles, Evidence, planted, said } from '../support/audit/canaries.js';
import { asked, badSinks, reads, refused, scripts } from '../support/audit/canary-requests.js';
import {
  auditConfig,
  createExport,
  DENIED_TERM,
  folderFor,
  historyOf,
  ORGANIZATION,
  startGatewayProcess,
  type GatewayProcess,
} from '../support/audit/gateway-process.js';
import { startFakeProvider, type FakeProvider } from '../support/fake-provider.js';
import { until } from '../support/gateway.js';
import { startRedis, type RedisServer } from '../support/redis.js';

t.setTimeout(180_000);

const { appKey, adminKey, providerKey } = planted;

/** Whatever was written anywhere, and what models answered: there words may stand that stand nowhere else. */
interface Found {
  readonly evidence: Evidence;
  readonly answers: Evidence;
}

/** Asks every way there is. */
const askAll = async (
  gateway: GatewayProcess,
  upstream: FakeProvider,
  { evidence, answers }: Found,
): Promise<void> => {
  const keep = async (where: string, reply: Response): Promise<void> => {
    evidence.add(`headers of ${where}`, JSON.stringify([...reply.headers]));
    const isAnswer = reply.status === 200 && where.startsWith('provider');
    (isAnswer ? answers : evidence).add(`${where}: ${reply.status}`, await reply.text());
  };
  for (const [name, script] of Object.entries(scripts)) {
    upstream.play(script);
    const model = name.replaceAll(' ', '-'); // one that fails too often would be left alone
    for (const [path, body] of asked) {
      const reply = await gateway.call('POST', path, { body: { ...body, model }, key: appKey });
      await keep(`provider ${name} ${path}`, reply);
    }
  }
  for (const [method, path, body, key = appKey] of refused)
    await keep(`refused ${method} ${path}`, await gateway.call(method, path, { body, key }));
  for (const body of badSinks) {
    const reply = await gateway.call('POST', '/api/policy-gateway/exports', { body, key: adminKey });
    await keep('a bad sink', reply);
  }
  for (const path of reads) await keep(`GET ${path}`, await gateway.call('GET', path, { key: adminKey }));
};

/** Sinks whose destinations quote the token that they refuse. */
const angerSinks = async (
  gateway: GatewayProcess,
  targets: readonly Target[],
  { evidence }: Found,
): Promise<void> => {
  for (const target of targets) {
    const { id } = await createExport(gateway, target, adminKey);
    target.server.fail({ kind: 'status', status: 401, body: `no ${planted.sinkToken}` });
    const path = `/api/policy-gateway/exports/${id}`;
    for (const [method, place, body] of [
      ['POST', `${path}/test`, undefined],
      ['GET', path, undefined],
      ['PATCH', path, { config: { [target.secret]: [planted.sinkToken] } }],
      ['PATCH', path, { label: 'again' }],
    ] as const) {
      const reply = await gateway.call(method, place, { key: adminKey, ...(body && { body }) });
      evidence.add(`${target.name} ${method}`, await reply.text());
    }
  }
};

/** A file with faults, and a store that goes away and comes back. */
const disturb = async (
  gateway: GatewayProcess,
  redis: RedisServer,
  spoilFile: () => void,
  { evidence }: Found,
): Promise<void> => {
  const projects = (): Promise<Response> =>
    gateway.call('GET', '/v1/organization/projects', { key: adminKey });
  spoilFile();
  process.kill(gateway.pid, 'SIGHUP');
  await until(() => gateway.printed().includes('the configuration has faults'), 'a reload');
  redis.signal('SIGSTOP');
  const away = await projects();
  evidence.add(`store away: ${away.status}`, await away.text());
  redis.signal('SIGCONT');
  await until(async () => (await projects()).ok, 'the store', 30_000);
};

t.test('D28 nothing secret is in any log, metric, event, payload, error or read', async (t) => {
  const folder = folderFor(t);
  const found: Found = { evidence: new Evidence(), answers: new Evidence() };
  const { evidence, answers } = found;
  const targets = await startTargets(t);
  const redis = await startRedis({ args: ['--requirepass', planted.redisPassword] });
  t.teardown(() => redis.stop());
  const upstream = await startFakeProvider();
  t.teardown(() => upstream.close());
  const config = {
    ...auditConfig(folder),
    store: {
      kind: 'redis' as const,
      redis: {
        url: redis.url.replace('redis://', `redis://:${planted.redisPassword}@`),
        command_timeout: '2s',
      },
    },
    auth: { pepper: planted.pepper },
    providers: {
      up: {
        kind: 'anthropic' as const,
        base_url: upstream.url,
        api_key: providerKey,
        retry: { attempts: 1 },
      },
    },
    models: [{ name: '*', provider: 'up', price: { input_per_mtok: 3, output_per_mtok: 15 } }],
    credits: { free_request: { enabled: false } },
    telemetry: { logs: { format: 'json' as const, level: 'debug' as const } },
    bootstrap: {
      organizations: [
        {
          id: ORGANIZATION,
          name: 'Test',
          credits: 1_000_000_000,
          admin_keys: [{ name: 'root', value: adminKey }],
          projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: appKey }] }],
          gateway: { rules: { denylist: [DENIED_TERM], redact: true } },
        },
      ],
    },
  };
  const gateway = await startGatewayProcess(t, folder, config);
  await angerSinks(gateway, targets, found);
  await askAll(gateway, upstream, found);
  const faults = { auth: { pepper: [planted.pepper] }, nobody: adminKey, server: { port: appKey } };
  const file = join(folder, 'gateway.yaml');
  await disturb(gateway, redis, () => writeFileSync(file, JSON.stringify({ ...config, ...faults })), found);

  const events = await historyOf(gateway, '', adminKey);
  evidence.add('history', JSON.stringify(events));
  const enforced = new Set(
    events.filter(({ event_type }) => event_type === 'enforcement').map(({ request_id }) => request_id!),
  );
  const forwarded = asked.length * Object.keys(scripts).length;
  t.ok(upstream.requests.length >= forwarded && enforced.size > forwarded, `${enforced.size} left events`);
  await gather(
    targets.filter(({ type }) => type !== 's3'),
    enforced,
    60_000,
  );
  t.equal(await gateway.stop(), 0);
  evidence.add('log', gateway.printed());
  addFiles(evidence, join(folder, 'audit'));
  for (const { name, server } of targets)
    for (const { path, body } of server.requests)
      if (!path.includes('/oauth2/')) evidence.add(`payload to ${name}`, `${path} ${body.toString()}`);

  t.ok(upstream.requests.some(({ headers }) => headers['x-api-key'] === providerKey));
  t.ok(upstream.requests.some(({ body }) => body.includes(said.toolResult)));
  t.ok(answers.find(said).length > 0, 'the canaries were on their way');
  t.comment(`${evidence.size} texts were looked through`);
  t.strictSame(evidence.find(planted), [], 'no credential is anywhere');
  t.strictSame(answers.find(planted), [], 'not even in answers');
  t.strictSame(evidence.find(said), [], 'nor anything that was said');
});
