import fc from 'fast-check';
import t from 'tap';
import type { AdmitRequest, Metric } from '../../../src/rules/limits/limiter.js';
import { openBoth, requestWith, settleOf, type Bench } from './setting.js';

t.setTimeout(120_000);

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A naive log of what was let in: the oracle. */
class Log {
  readonly starts: { readonly atMs: number; readonly tokens: number }[] = [];
  readonly live = new Set<string>();

  most(spanMs: number, of: 'requests' | 'tokens'): number {
    let most = 0;
    for (let from = 0; from < this.starts.length; from++) {
      let sum = 0;
      for (
        let at = from;
        at < this.starts.length && this.starts[at]!.atMs < this.starts[from]!.atMs + spanMs;
        at++
      )
        sum += of === 'requests' ? 1 : this.starts[at]!.tokens;
      most = Math.max(most, sum);
    }
    return most;
  }
}

const limits = { rpm: 7, rpd: 60, tpm: 3_000, tpd: 20_000, concurrent: 4 } as const;
const looser = { rpm: 10, rpd: 90, tpm: 4_000, tpd: null, concurrent: 5 } as const;

const act = fc.record({
  gapMs: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 2_500 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 * 3_600_000 }) },
  ),
  key: fc.nat(2),
  tokens: fc.integer({ min: 0, max: 900 }),
  settles: fc.boolean(),
});

t.test('8.1 no window of any scope ever holds more than its limit', async (t) => {
  const both = await openBoth(t);
  let run = 0;
  let admissions = 0;
  const play = async (
    { name, clock, limiter }: Bench,
    acts: readonly (typeof act extends fc.Arbitrary<infer A> ? A : never)[],
  ) => {
    const logs = { org: new Log(), p: new Log(), key_0: new Log(), key_1: new Log(), key_2: new Log() };
    const open: { readonly request: AdmitRequest; readonly logs: readonly Log[] }[] = [];
    for (const { gapMs, key, tokens, settles } of acts) {
      if (gapMs > 25_000) for (const { request, logs } of open.splice(0)) await end(request, logs);
      clock.advance(gapMs);
      const keyLog = logs[`key_${key as 0 | 1 | 2}`];
      const mine = key < 2 ? [logs.org, logs.p, keyLog] : [logs.org, keyLog];
      const request = requestWith({
        ids: { org: `${name}_${run}`, key: `key_${key}` },
        org: { ...limits, rpm: 12, rpd: 100, concurrent: 6 },
        project: key < 2 ? looser : null,
        key: limits,
        tokens,
      });
      const reply = await limiter.admit(request);
      if (reply.outcome === 'admitted') {
        admissions++;
        for (const log of mine) {
          log.starts.push({ atMs: clock.nowMs(), tokens });
          log.live.add(request.leaseId);
        }
        open.push({ request, logs: mine });
      }
      for (const [log, most] of [
        [logs.org, 6],
        [logs.p, 5],
        [keyLog, 4],
      ] as const)
        if (log.live.size > most) throw new Error(`${log.live.size} at once, ${most} allowed`);
      const [oldest] = open;
      if (oldest && (settles || open.length > 3)) await end(open.shift()!.request, oldest.logs);
    }
    // Every reservation is settled with exactly what was reserved, so tokens can be summed by their start.
    async function end(request: AdmitRequest, of: readonly Log[]): Promise<void> {
      await limiter.settle(settleOf(request, request.tokens));
      for (const log of of) log.live.delete(request.leaseId);
    }
    const bounds: readonly (readonly [Log, number, 'requests' | 'tokens', number])[] = [
      [logs.org, MINUTE_MS, 'requests', 12],
      [logs.org, DAY_MS, 'requests', 100],
      [logs.org, MINUTE_MS, 'tokens', 3_000],
      [logs.org, DAY_MS, 'tokens', 20_000],
      [logs.p, MINUTE_MS, 'requests', 10],
      [logs.p, DAY_MS, 'requests', 90],
      [logs.p, MINUTE_MS, 'tokens', 4_000],
      ...[logs.key_0, logs.key_1, logs.key_2].flatMap(
        (log) =>
          [
            [log, MINUTE_MS, 'requests', 7],
            [log, DAY_MS, 'requests', 60],
            [log, MINUTE_MS, 'tokens', 3_000],
          ] as const,
      ),
    ];
    for (const [log, spanMs, of, most] of bounds) {
      const held = log.most(spanMs, of);
      if (held > most) throw new Error(`${held} ${of} in ${spanMs} ms, ${most} allowed`);
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 80, maxLength: 160, size: 'max' }), async (acts) => {
      run++;
      await Promise.all(both.map((bench) => play(bench, acts)));
    }),
    { numRuns: 40, endOnFailure: true },
  );
  t.ok(admissions > 2_000, `${admissions} admissions`);
});

interface Limited {
  readonly metric: Metric;
  readonly given: Parameters<typeof requestWith>[0];
}

const quota = { subject: 'user', id: 'ann', requests: 4, tokens: null } as const;
const cases: readonly Limited[] = [
  { metric: 'rpm', given: { key: { rpm: 5 }, project: { rpm: 6 }, org: { rpm: 7 } } },
  { metric: 'rpd', given: { key: { rpd: 5 }, project: { rpd: 6 }, org: { rpd: 7 } } },
  { metric: 'tpm', given: { key: { tpm: 900 }, project: { tpm: 1_100 }, org: { tpm: 1_300 } } },
  { metric: 'tpd', given: { org: { tpd: 2_000 } } },
  { metric: 'quota_requests', given: { quotas: [{ ...quota, window: 'daily' }] } },
  { metric: 'quota_requests', given: { quotas: [{ ...quota, window: 'weekly' }] } },
  { metric: 'quota_requests', given: { quotas: [{ ...quota, window: 'monthly' }] } },
  {
    metric: 'quota_tokens',
    given: { quotas: [{ ...quota, requests: null, tokens: 1_500, window: 'daily' }] },
  },
];

t.test('7.4 whoever waits exactly Retry-After, alone, is admitted', async (t) => {
  const both = await openBoth(t);
  let checked = 0;
  let run = 0;
  const state = fc.array(
    fc.record({ gapMs: fc.nat(9_000), tokens: fc.nat(700), key: fc.nat(2), settled: fc.nat(900) }),
    { minLength: 8, maxLength: 24, size: 'max' },
  );
  const probe = async (
    { name, clock, limiter }: Bench,
    { given }: Limited,
    steps: readonly { gapMs: number; tokens: number; key: number; settled: number }[],
  ): Promise<void> => {
    for (const { gapMs, tokens, key, settled } of steps) {
      clock.advance(gapMs);
      const make = () => requestWith({ ...given, ids: { org: `${name}_${run}`, key: `key_${key}` }, tokens });
      const request = make();
      const reply = await limiter.admit(request);
      if (reply.outcome === 'admitted') {
        if (settled % 3 > 0) await limiter.settle(settleOf(request, settled));
        continue;
      }
      clock.advance(Math.max(1, Math.ceil(reply.retryMs / 1_000)) * 1_000);
      const again = await limiter.admit(make());
      if (again.outcome !== 'admitted')
        throw new Error(`refused again by ${JSON.stringify(again.binding)} after ${JSON.stringify(reply)}`);
      checked++;
    }
  };
  for (const each of cases) {
    const before = checked;
    await fc.assert(
      fc.asyncProperty(state, async (steps) => {
        run++;
        await Promise.all(both.map((bench) => probe(bench, each, steps)));
      }),
      { numRuns: 24, endOnFailure: true },
    );
    t.ok(checked > before, `${each.metric}: ${checked - before} refusals probed`);
  }
  t.ok(checked >= 1_000, `${checked} in all`);
});
