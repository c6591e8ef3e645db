import fc from 'fast-check';
import t from 'tap';
import type { AdmitRequest, Quota } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf, type Bench } from './setting.js';

interface Tier {
  readonly rpm: number | null;
  readonly rpd: number | null;
  readonly tpm: number | null;
  readonly tpd: number | null;
  readonly concurrent: number | null;
}

type Step =
  | {
      readonly kind: 'admit';
      readonly key: number;
      readonly tokens: number;
      readonly hold: number | null;
      readonly budget: number | null;
      readonly quota: number;
      readonly lease: boolean;
      readonly enforce: boolean;
      readonly refused: 'key' | 'none';
    }
  | { readonly kind: 'read'; readonly key: number }
  | { readonly kind: 'repeat'; readonly back: number }
  | {
      readonly kind: 'settle';
      readonly which: number;
      readonly tokens: number;
      readonly again: boolean;
      readonly agoMs: number | null;
    }
  | { readonly kind: 'renew'; readonly tokens: number; readonly credits: number; readonly share: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'tier'; readonly tier: Tier }
  | { readonly kind: 'add'; readonly amount: number; readonly id: number }
  | { readonly kind: 'probe'; readonly key: number; readonly tokens: number };

const limit = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: null, freq: 3 });
const tier: fc.Arbitrary<Tier> = fc.record({
  rpm: limit(8),
  rpd: limit(30),
  tpm: limit(5_000),
  tpd: limit(40_000),
  concurrent: limit(5),
});

const duration = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
  { weight: 2, arbitrary: fc.constantFrom(999, 1_000, 29_999, 30_000, 59_999, 60_000, 60_001) },
  { weight: 1, arbitrary: fc.constantFrom(119_999, 120_001, 1_800_000, 3_600_001, 86_399_999, 86_400_000) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 25 * 3_600_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(-200, -4_999, -5_001, -10_000) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('admit' as const),
      key: fc.nat(3),
      tokens: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_500 }), fc.constant(9_000)),
      hold: fc.option(fc.integer({ min: 0, max: 400 }), { nil: null, freq: 2 }),
      budget: fc.option(fc.integer({ min: 0, max: 1_500 }), { nil: null, freq: 2 }),
      quota: fc.nat(5),
      lease: fc.boolean(),
      enforce: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
      refused: fc.constantFrom('key', 'none'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), key: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat' as const), back: fc.nat(3) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(),
      tokens: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
      again: fc.boolean(),
      agoMs: fc.option(duration.map(Math.abs), { nil: null }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('renew' as const),
      tokens: fc.nat(3_000),
      credits: fc.nat(300),
      share: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: duration }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tier' as const), tier }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      amount: fc.integer({ min: -200, max: 2_000 }),
      id: fc.nat(20),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('probe' as const), key: fc.nat(3), tokens: fc.nat(2_500) }),
  },
);

const quotasOf = (choice: number): readonly Quota[] => {
  const windows = ['daily', 'weekly', 'monthly'] as const;
  if (choice < 2) return [];
  const window = windows[choice % 3]!;
  return [
    { subject: 'user', id: `u ${choice}`, window, requests: choice, tokens: 9_000 },
    ...(choice > 3
      ? [{ subject: 'project', id: 'proj_a', window: 'weekly', requests: 12, tokens: null } as const]
      : []),
  ];
};

/** Two keys of one project, one of another, one of none. */
const idsOf = (run: number, key: number) => ({
  org: `org_${run}`,
  project: key < 2 ? 'proj_a' : 'proj_b',
  key: `key_${key}`,
});

/** Applies the steps to one limiter; what it sees decides what is repeated and probed. */
const play = async (
  { clock, limiter }: Bench,
  run: number,
  steps: readonly Step[],
  first: Tier,
): Promise<unknown[]> => {
  const seen: unknown[] = [];
  const tell = async <T>(answer: Promise<T>): Promise<T> => {
    const reply = await answer;
    seen.push(reply);
    return reply;
  };
  const admitted: AdmitRequest[] = [];
  let present = first;
  let leases = 0;
  let backMs = 0;
  const make = (key: number, more: Partial<AdmitRequest>): AdmitRequest =>
    requestWith({
      ids: idsOf(run, key),
      org: present,
      project: key === 3 ? null : { ...present, rpm: present.rpm === null ? null : present.rpm + 1 },
      key: present,
      leaseId: `lease_${run}_${leases++}`,
      ...more,
    });
  const act: { readonly [K in Step['kind']]: (step: Extract<Step, { kind: K }>) => Promise<void> } = {
    admit: async ({ key, tokens, hold, budget, quota, lease, enforce, refused }) => {
      const request = make(key, {
        tokens,
        credits: hold === null ? null : { hold, keyBudget: budget },
        quotas: quotasOf(quota),
        takesLease: lease,
        enforce,
        countRefused: refused,
      });
      await tell(limiter.admit(request));
      admitted.push(request);
    },
    read: async ({ key }) => {
      await tell(limiter.read(make(key, { quotas: quotasOf(key + 2) })));
    },
    repeat: async ({ back }) => {
      const request = admitted.at(-1 - back);
      if (request) await tell(limiter.admit(request));
    },
    settle: async ({ which, tokens, again, agoMs }) => {
      const request = admitted[which % Math.max(1, admitted.length)];
      if (!request) return;
      await tell(
        limiter.settle(
          settleOf(request, tokens, request.credits && Math.ceil(tokens / 10), {
            again,
            ...(agoMs !== null && { startedAgoMs: agoMs }),
            keyBudgeted: request.credits !== null && request.credits.keyBudget !== null,
          }),
        ),
      );
    },
    renew: async ({ tokens, credits, share }) => {
      const some = admitted.filter((request, i) => request.takesLease && i % share === 0);
      const leases = some.map(({ scopes, space, organizationId, quotas, leaseId, credits: metered }) => ({
        scopes,
        space,
        organizationId,
        quotas,
        leaseId,
        tokens,
        creditsUsed: credits,
        hold: metered?.hold ?? null,
      }));
      if (leases.length > 0) await tell(limiter.renew(leases));
    },
    advance: async ({ ms }) => {
      // After more than a minute of steps back the embedded limiter may have forgotten what Redis remembers.
      if (ms < 0 && (backMs -= ms) > 60_000) return;
      clock.advance(ms);
    },
    tier: async ({ tier }) => void (present = tier),
    add: async ({ amount, id }) => {
      await tell(limiter.credits.addCredits(`org_${run}`, amount, `${id}`));
    },
    probe: async ({ key, tokens }) => {
      const { outcome, retryMs } = await tell(limiter.admit(make(key, { tokens, takesLease: false })));
      if (outcome !== 'refused') return;
      clock.advance(Math.max(1, Math.ceil(retryMs / 1_000)) * 1_000);
      await tell(limiter.admit(make(key, { tokens, takesLease: false })));
    },
  };
  await limiter.credits.setBalanceIfAbsent(`org_${run}`, 2_000);
  for (const each of steps) await (act[each.kind] as (step: Step) => Promise<void>)(each);
  await tell(limiter.credits.balance(`org_${run}`));
  return seen;
};

/** The first place where two replies differ. */
const differ = (one: unknown, other: unknown, path = 'reply'): string | null => {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return one === other ? null : `${path}: embedded ${JSON.stringify(one)}, Redis ${JSON.stringify(other)}`;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = differ(
      (one as Record<string, unknown>)[key],
      (other as Record<string, unknown>)[key],
      `${path}.${key}`,
    );
    if (found) return found;
  }
  return null;
};

t.setTimeout(120_000);

t.test('the embedded limiter and the scripts answer alike, reply for reply', async (t) => {
  const both = await openBoth(t);
  let run = 0;
  let replies = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 50, maxLength: 120, size: 'max' }),
      tier,
      async (steps, first) => {
        run++;
        const startMs = Math.max(...both.map(({ clock }) => clock.nowMs())) + 3_600_000;
        for (const { clock } of both) clock.advance(startMs - clock.nowMs());
        const [embedded, redis] = await Promise.all(both.map((bench) => play(bench, run, steps, first)));
        replies += embedded!.length;
        for (const [i, reply] of embedded!.entries()) {
          const difference = differ(reply, redis![i]);
          if (difference) throw new Error(`reply ${i}: ${difference}`);
        }
        return embedded!.length === redis!.length;
      },
    ),
    { numRuns: 200, endOnFailure: true },
  );
  t.ok(replies >= 10_000, `${replies} replies compared`);
});
