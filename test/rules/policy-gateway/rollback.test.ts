import t, { type Test } from 'tap';
import type { Decision } from '../../../src/core/review.js';
import { readConfig, type GatewayConfig } from '../../../src/rules/policy-gateway/config.js';
import { decide, noFindings } from '../../../src/rules/policy-gateway/decide.js';
import { EmbeddedSpikes } from '../../../src/rules/policy-gateway/embedded-rollback.js';
import { rollbackFacts } from '../../../src/rules/policy-gateway/facts.js';
import { openRedisSpikes } from '../../../src/rules/policy-gateway/redis-rollback.js';
import {
  noteJudgement,
  type Rollback,
  type SpikeLedger,
} from '../../../src/rules/policy-gateway/rollback.js';
import { standings } from '../../../src/rules/policy-gateway/rollout.js';
import { ManualClock } from '../../support/manual-clock.js';
import { plainClient, startRedis, until, type RedisServer } from '../../support/redis.js';

const MINUTE_MS = 60_000;
const ORG = 'org_test';

let server: RedisServer;
let prefixes = 0;

t.before(async () => {
  server = await startRedis();
});
t.teardown(() => server.stop());

interface Setting {
  readonly clock: ManualClock;
  readonly ledger: SpikeLedger;
  readonly told: Rollback[];
  /** Another replica; of the embedded ledger there is only one. */
  readonly another: () => Promise<SpikeLedger>;
  /** When everything noted has been counted. */
  readonly counted: () => Promise<void>;
}

const openRedisSetting = async (t: Test): Promise<Setting> => {
  const clock = new ManualClock();
  const keyPrefix = `t${prefixes++}:`;
  const open = async (): Promise<SpikeLedger> => {
    const ledger = await openRedisSpikes({
      url: server.url,
      keyPrefix,
      clock,
      flushEveryMs: 5,
      commandTimeoutMs: 5_000,
    });
    t.teardown(() => ledger.close());
    return ledger;
  };
  const ledger = await open();
  const told: Rollback[] = [];
  ledger.onRollback((rollback) => told.push(rollback));
  const client = plainClient(server.port);
  t.teardown(() => client.disconnect());
  let markers = 0;
  const counted = async (): Promise<void> => {
    // Pairs are written in order: when the marker's count is there, those before it are too.
    const marker = `marker-${markers++}`;
    ledger.note(marker, 'm', 'allow', configWith({ rollback_min_requests: 1_000 }));
    await until(async () => (await client.keys(`${keyPrefix}gw:{${marker}}*`)).length > 0);
  };
  return { clock, ledger, told, another: open, counted };
};

const settings: Readonly<Record<string, (t: Test) => Promise<Setting>>> = {
  embedded: async (t) => {
    const clock = new ManualClock();
    const ledger = new EmbeddedSpikes({ clock });
    t.teardown(() => ledger.close());
    const told: Rollback[] = [];
    ledger.onRollback((rollback) => told.push(rollback));
    return { clock, ledger, told, another: async () => ledger, counted: async () => {} };
  },
  Redis: openRedisSetting,
};

const onBoth = (name: string, run: (t: Test, setting: Setting) => Promise<void>): void => {
  for (const [store, open] of Object.entries(settings))
    t.test(`${name} (${store})`, async (t) => run(t, await open(t)));
};

const configWith = (rollout: object = {}): GatewayConfig =>
  readConfig({ policy_id: 'gw', name: 'Gateway', rollout: { rollback_on_spike: true, ...rollout } });

const note = (
  ledger: SpikeLedger,
  times: number,
  decision: Decision,
  config = configWith(),
  org = ORG,
): void => {
  for (let i = 0; i < times; i++) ledger.note(org, config.policy_id, decision, config);
};

const isOff = (ledger: SpikeLedger): boolean => ledger.isRolledBack(ORG, 'gw');

onBoth(
  'D23 a share above the threshold stops enforcement, after the cooldown it is back',
  async (t, setting) => {
    const { clock, ledger, told, counted } = setting;
    note(ledger, 15, 'allow');
    note(ledger, 5, 'refuse');
    await counted();
    t.notOk(isOff(ledger), 'a quarter is not more than a quarter');
    note(ledger, 1, 'escalate');
    await until(() => isOff(ledger));
    t.match(told, [
      { organizationId: ORG, policyId: 'gw', decided: 21, hits: 6, cooldownMs: 30 * MINUTE_MS, here: true },
    ]);
    clock.advance(30 * MINUTE_MS - 1);
    t.ok(isOff(ledger));
    clock.advance(1);
    t.notOk(isOff(ledger));

    note(ledger, 19, 'refuse');
    await counted();
    t.notOk(isOff(ledger), 'it begins anew');
    note(ledger, 1, 'refuse');
    await until(() => isOff(ledger));
    t.equal(told.length, 2);
  },
);

onBoth(
  'D23 few requests mean nothing, nor do decisions that are no hits',
  async (t, { ledger, counted, told }) => {
    note(ledger, 19, 'refuse');
    await counted();
    t.notOk(isOff(ledger));
    const calm = readConfig({ policy_id: 'calm', rollout: { rollback_on_spike: true } });
    note(ledger, 50, 'rewrite', calm);
    await counted();
    t.notOk(ledger.isRolledBack(ORG, 'calm'));
    const strict = readConfig({
      policy_id: 'strict',
      rollout: { rollback_on_spike: true, rollback_decisions: ['rewrite'] },
    });
    note(ledger, 50, 'rewrite', strict);
    await until(() => ledger.isRolledBack(ORG, 'strict'));
    t.equal(told.length, 1);
  },
);

onBoth('D23 what is older than the window no longer counts', async (t, { clock, ledger, counted }) => {
  const config = configWith({ rollback_window_minutes: 2, rollback_min_requests: 10 });
  note(ledger, 9, 'refuse', config);
  await counted();
  clock.advance(2 * MINUTE_MS);
  note(ledger, 9, 'refuse', config);
  await counted();
  t.notOk(isOff(ledger));
  clock.advance(MINUTE_MS);
  note(ledger, 1, 'refuse', config);
  await until(() => isOff(ledger));
});

onBoth(
  'D23 organizations and policies are apart, and one without the wish is never stopped',
  async (t, setting) => {
    const { ledger, counted } = setting;
    note(ledger, 40, 'refuse', configWith({ rollback_on_spike: false }));
    await counted();
    t.notOk(isOff(ledger));
    note(ledger, 40, 'refuse');
    await until(() => isOff(ledger));
    t.notOk(ledger.isRolledBack('org_other', 'gw'));
    t.notOk(ledger.isRolledBack(ORG, 'gw2'));
    note(ledger, 40, 'refuse', configWith(), 'org_other');
    await until(() => ledger.isRolledBack('org_other', 'gw'));
  },
);

onBoth('D23 nothing is counted during the cooldown', async (t, { clock, ledger, counted, told }) => {
  const config = configWith({ rollback_cooldown_minutes: 0.05 });
  note(ledger, 20, 'refuse', config);
  await until(() => isOff(ledger));
  note(ledger, 100, 'refuse', config);
  await counted();
  clock.advance(3_000);
  t.notOk(isOff(ledger));
  note(ledger, 1, 'refuse', config);
  await counted();
  t.notOk(isOff(ledger));
  t.equal(told.length, 1);
});

onBoth('a listener that throws harms nobody', async (t, { ledger, told }) => {
  const stop = ledger.onRollback(() => {
    throw new Error('mine');
  });
  note(ledger, 20, 'refuse');
  await until(() => isOff(ledger) && told.length === 1);
  stop();
  t.equal(told.length, 1);
});

onBoth('odd names are names too', async (t, { ledger }) => {
  for (const name of ['{a}\n"b"', 'x\ud800', 'ü'.repeat(200)]) {
    const config = readConfig({ policy_id: name, rollout: { rollback_on_spike: true } });
    note(ledger, 20, 'refuse', config);
    await until(() => ledger.isRolledBack(ORG, name));
  }
  t.pass();
});

t.test('D23 a spike on one replica stops enforcement on all, and exactly one of them says so', async (t) => {
  const { clock, ledger, told, another } = await openRedisSetting(t);
  const [second, third] = [await another(), await another()];
  const elsewhere: Rollback[] = [];
  second.onRollback((rollback) => elsewhere.push(rollback));
  third.onRollback((rollback) => elsewhere.push(rollback));
  for (const one of [second, third]) t.notOk(isOff(one));
  note(ledger, 20, 'refuse');
  await until(() => [ledger, second, third].every(isOff));
  await until(() => elsewhere.length === 2);
  t.strictSame(
    told.map(({ here }) => here),
    [true],
  );
  t.strictSame(
    elsewhere.map(({ here, decided, hits, policyId }) => [here, decided, hits, policyId]),
    [
      [false, 20, 20, 'gw'],
      [false, 20, 20, 'gw'],
    ],
  );

  const late = await another();
  isOff(late);
  await until(() => isOff(late));
  clock.advance(30 * MINUTE_MS);
  t.notOk([ledger, second, third, late].some(isOff), 'after the cooldown it is back everywhere');
});

t.test('D23 replicas count together: no one of them saw enough alone', async (t) => {
  const { ledger, another } = await openRedisSetting(t);
  const second = await another();
  note(ledger, 10, 'refuse');
  note(second, 10, 'refuse');
  await until(() => isOff(ledger) && isOff(second));
  t.pass();
});

t.test('D23 what Redis did not take is counted when it is back', async (t) => {
  const own = await startRedis();
  t.teardown(() => own.stop());
  const clock = new ManualClock();
  const ledger = await openRedisSpikes({ url: own.url, keyPrefix: 'x:', clock, flushEveryMs: 5 });
  t.teardown(() => ledger.close());
  await own.kill();
  note(ledger, 20, 'refuse');
  t.notOk(isOff(ledger));
  await own.restart();
  await until(() => isOff(ledger));
});

t.test('noting after the end does nothing, and what waited is written before it', async (t) => {
  const keyPrefix = `t${prefixes++}:`;
  const options = { url: server.url, keyPrefix, commandTimeoutMs: 5_000 };
  const first = await openRedisSpikes({ ...options, flushEveryMs: 600_000 });
  const second = await openRedisSpikes({ ...options, flushEveryMs: 5 });
  t.teardown(() => second.close());
  note(first, 20, 'refuse');
  await first.close();
  note(first, 20, 'refuse');
  isOff(second);
  await until(() => isOff(second));
});

t.test('D23 only what the configuration may enforce is noted', async (t) => {
  const config = readConfig({
    policy_id: 'gw',
    rules: { denylist: ['x'] },
    rollout: { rollback_on_spike: true, rollback_min_requests: 1 },
  });
  const offAfter = (standing: (typeof standings)[keyof typeof standings], more: object): boolean => {
    const ledger = new EmbeddedSpikes({ clock: new ManualClock() });
    const judgement = decide(config, { ...noFindings('request'), ...more }, standing);
    noteJudgement(ledger, ORG, config, judgement);
    return isOff(ledger);
  };
  const hit = { denylist: ['x'] };
  t.ok(offAfter(standings.enforced, hit));
  t.ok(offAfter(standings.canary, hit));
  t.ok(offAfter(standings.canaryOutside, hit));
  t.notOk(offAfter(standings.shadow, hit));
  t.notOk(offAfter(standings.shadowOutside, hit));
  t.notOk(offAfter(standings.rollback, hit));
  t.notOk(
    offAfter(standings.enforced, { categories: ['self-harm'] }),
    'what is always blocked is not its doing',
  );
});

t.test('D23 the event of a rollback tells whose it is and why', async (t) => {
  const rollback = { organizationId: ORG, policyId: 'gw', decided: 21, hits: 6, cooldownMs: 5, here: true };
  t.match(rollbackFacts(rollback, configWith()), {
    event_type: 'rollback',
    org_id: ORG,
    policy_id: 'gw',
    policy_name: 'Gateway',
    rollout_mode: 'rollback',
    enforced: false,
    details: { decided: 21, hits: 6, cooldown_ms: 5 },
  });
});
