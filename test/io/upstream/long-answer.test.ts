import t, { type Test } from 'tap';
import { readWhole } from '../../../src/io/upstream/read-whole.js';
import { startFakeProvider } from '../../support/fake-provider.js';
import { faultOf, post, provide, until } from './provider-setup.js';

/**
 * Timers driven by hand; sockets and immediates stay real. Node 20's own mock does not know `refresh`. One clock for
 * the whole file, since undici keeps a timer of its own from one test to the next.
 */
const due = new Map<object, number>();
let nowMs = 0;
const fakeTimeout = (act: (...given: unknown[]) => void, delayMs = 0, ...given: unknown[]) => {
  const timer = {
    act: () => act(...given),
    refresh: () => (due.set(timer, nowMs + delayMs), timer),
    ref: () => timer,
    unref: () => timer,
    hasRef: () => true,
  };
  return timer.refresh();
};

const driveTimers = (t: Test) => {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
  globalThis.setTimeout = fakeTimeout as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer?: NodeJS.Timeout) => {
    if (timer === undefined || !due.delete(timer)) realClear(timer);
  }) as typeof clearTimeout;
  const restore = (): void => {
    globalThis.setTimeout = realSet;
    globalThis.clearTimeout = realClear;
  };
  t.teardown(restore);
  return {
    restore,
    /** Runs what falls due, in the order of its time. */
    advance: (byMs: number): void => {
      const endMs = nowMs + byMs;
      for (;;) {
        const [next] = [...due].filter(([, at]) => at <= endMs).sort(([, one], [, other]) => one - other);
        if (!next) break;
        due.delete(next[0]);
        nowMs = Math.max(nowMs, next[1]);
        (next[0] as { act: () => void }).act();
      }
      nowMs = endMs;
    },
  };
};

const waitReal = async (holds: () => boolean): Promise<void> => {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 100_000) throw new Error('waited in vain');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

t.test('lesson 11 an answer of 900 s with silences of 500 s lives; 601 s of silence end it', async (t) => {
  const gates = [0, 1].map(() => {
    let open = (): void => {};
    return { passed: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
  });
  const fake = await startFakeProvider([
    { head: 200 },
    { write: 'a' },
    { until: gates[0]!.passed },
    { write: 'b' },
    { until: gates[1]!.passed },
    { write: 'c' },
    'stall',
  ]);
  t.teardown(() => fake.close());
  const timers = driveTimers(t);
  const provider = provide(t, fake.url, {
    timeouts: { firstByteMs: 400_000, idleMs: 600_000, totalMs: 10_000_000 },
  });
  const answering = post(provider);
  await waitReal(() => fake.requests.length === 1);
  const { body } = await answering;
  let text = '';
  body.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await waitReal(() => text === 'a');
  for (const [gate, expected] of [
    [gates[0]!, 'ab'],
    [gates[1]!, 'abc'],
  ] as const) {
    timers.advance(500_000);
    gate.open();
    await waitReal(() => text === expected);
    t.notOk(body.destroyed, 'still open');
  }
  timers.advance(599_000);
  t.notOk(body.destroyed, 'our idle time is not over');
  timers.advance(2_000);
  t.match(body.errored, { kind: 'timeout' });
  timers.restore();
  await until(() => fake.open === 0, 'the provider is left');
});

t.test(
  'lesson 11 a first byte that comes after 350 s is waited for; one that never comes is not',
  async (t) => {
    let answer = (): void => {};
    const gate = new Promise<void>((resolve) => (answer = resolve));
    const fake = await startFakeProvider([{ until: gate }, { head: 200 }, { write: 'a' }, 'end']);
    t.teardown(() => fake.close());
    const timers = driveTimers(t);
    const provider = provide(t, fake.url, {
      timeouts: { firstByteMs: 400_000, idleMs: 10_000, totalMs: 10_000_000 },
    });
    const first = post(provider);
    await waitReal(() => fake.requests.length === 1);
    timers.advance(350_000);
    answer();
    const { body } = await first;
    body.resume();
    await waitReal(() => body.readableEnded);
    fake.play(['stall']);
    const second = faultOf(post(provider));
    await waitReal(() => fake.requests.length === 2);
    timers.advance(400_000);
    t.equal((await second).kind, 'timeout');
    timers.restore();
  },
);

t.test(
  '6.1 a reader that takes its time is no silence of the provider, and what waits for it is bounded',
  async (t) => {
    const megabyte = Buffer.alloc(1 << 20, 'a');
    const chunks = Array.from({ length: 20 }, () => ({ write: megabyte }));
    const fake = await startFakeProvider([{ head: 200 }, ...chunks, 'end']);
    t.teardown(() => fake.close());
    const timers = driveTimers(t);
    const provider = provide(t, fake.url, { timeouts: { idleMs: 1_000, totalMs: 1_000_000 } });
    const { body } = await post(provider);
    const isFull = (): boolean => body.readableLength >= body.readableHighWaterMark;
    await waitReal(isFull);
    timers.advance(100_000);
    t.notOk(body.destroyed);
    t.ok(body.readableLength <= 1 << 18);
    t.equal((await readWhole(body, 1 << 30)).length, 20 << 20);
    timers.restore();
  },
);
