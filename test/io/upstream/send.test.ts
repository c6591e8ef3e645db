import { Readable } from 'node:stream';
import t from 'tap';
import { Breakers } from '../../../src/io/upstream/breaker.js';
import { UpstreamFault, type FaultKind, type Provider } from '../../../src/io/upstream/provider.js';
import { readStart } from '../../../src/io/upstream/read-whole.js';
import {
  CircuitOpen,
  send,
  UpstreamRejection,
  type Attempt,
  type SendOptions,
  type Target,
} from '../../../src/io/upstream/send.js';

type Play = number | FaultKind | readonly [status: number, headers: Record<string, string>, body?: string];

/** A provider that answers as told, the last thing again and again. */
class Player implements Provider {
  readonly kind = 'anthropic';
  readonly name: string;
  readonly attempts: number;
  readonly bodies: Readable[] = [];
  readonly #plays: Play[];
  calls = 0;

  constructor(name: string, attempts: number, ...plays: readonly Play[]) {
    this.name = name;
    this.attempts = attempts;
    this.#plays = [...plays];
  }

  async send(): ReturnType<Provider['send']> {
    this.calls++;
    const play = this.#plays.length > 1 ? this.#plays.shift()! : this.#plays[0]!;
    if (typeof play === 'string') throw new UpstreamFault(play, play);
    const [status, headers, text] = typeof play === 'number' ? [play, {}] : play;
    const body = Readable.from([Buffer.from(text ?? `answer of ${this.name}`)]);
    this.bodies.push(body);
    return { status, headers, body };
  }

  async close(): Promise<void> {}
}

const run = (providers: readonly Player[], options: Partial<SendOptions<Target>> = {}) => {
  const attempts: Attempt[] = [];
  const pauses: number[] = [];
  let nowMs = 0;
  const sent = send({
    targets: providers.map((provider) => ({ provider, model: `model of ${provider.name}` })),
    build: ({ model }) => ({ path: '/', headers: {}, body: model }),
    signal: new AbortController().signal,
    breakers: new Breakers(),
    onAttempt: (attempt) => attempts.push(attempt),
    clock: { nowMs: () => 0, ticksMs: () => (nowMs += 10) },
    random: () => 1,
    pause: async (durationMs) => void pauses.push(durationMs),
    ...options,
  });
  return { sent, attempts, pauses };
};

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

t.test('D42 an answer is given out with its body unread, after one attempt', async (t) => {
  const one = new Player('one', 3, 200);
  const { sent, attempts, pauses } = run([one, new Player('two', 1, 200)]);
  const { target, answer } = await sent;
  t.equal(target.provider, one);
  t.notOk(answer.body.readableDidRead);
  t.same(pauses, []);
  t.same(attempts, [{ provider: 'one', model: 'model of one', outcome: 200, reached: true, waitedMs: 10 }]);
});

for (const play of ['connect', 429, 503, 529] as const)
  t.test(`D42 ${play}: the same provider again while attempts last, then the fallback`, async (t) => {
    const recovering = new Player('one', 3, play, play, 200);
    t.equal((await run([recovering]).sent).answer.status, 200);
    t.equal(recovering.calls, 3);

    const failing = new Player('one', 2, play);
    const fallback = new Player('two', 1, 200);
    const { sent, attempts } = run([failing, fallback]);
    t.equal((await sent).target.provider, fallback);
    t.equal(failing.calls, 2);
    t.same(
      attempts.map(({ outcome, reached }) => [outcome, reached]),
      [
        [play, play !== 'connect'],
        [play, play !== 'connect'],
        [200, true],
      ],
    );
    t.ok(failing.bodies.every((body) => body.destroyed));
  });

for (const play of [500, 502, 504, 302, 'timeout', 'reset', 'unreadable'] as const)
  t.test(`D42 ${play}: the fallback at once, never the same provider again`, async (t) => {
    const failing = new Player('one', 5, play);
    const fallback = new Player('two', 1, 200);
    t.equal((await run([failing, fallback]).sent).target.provider, fallback);
    t.equal(failing.calls, 1);
    t.ok(failing.bodies.every((body) => body.destroyed));
  });

for (const status of [400, 401, 403, 404, 408, 409, 413, 422])
  t.test(`D42 ${status} is the provider's word: nobody else is asked`, async (t) => {
    const one = new Player('one', 5, [status, { 'request-id': 'r' }, '{"error":"no"}']);
    const two = new Player('two', 1, 200);
    const thrown = await thrownBy(run([one, two]).sent);
    t.ok(thrown instanceof UpstreamRejection);
    t.match(thrown, { status, body: '{"error":"no"}', headers: { 'x-upstream-request-id': 'r' } });
    t.equal(one.calls + two.calls, 1);
  });

t.test('D42 when all failed, the last failure is told, with its Retry-After', async (t) => {
  const thrown = await thrownBy(
    run([new Player('one', 1, 'connect'), new Player('two', 2, [429, { 'retry-after': '30' }, 'slow down'])])
      .sent,
  );
  t.match(thrown, { status: 429, retryAfterS: 30, body: 'slow down' });
  const fault = await thrownBy(run([new Player('one', 1, 500), new Player('two', 1, 'timeout')]).sent);
  t.match(fault, { name: 'UpstreamFault', kind: 'timeout' });
});

t.test('lesson 26 a short Retry-After is kept to, a long one is not waited for', async (t) => {
  const short = new Player('one', 2, [429, { 'retry-after': '2' }], 200);
  const patient = run([short]);
  await patient.sent;
  t.same(patient.pauses, [2_000]);

  const long = new Player('one', 3, [429, { 'retry-after': '3' }], 200);
  const fallback = new Player('two', 1, 200);
  const hasty = run([long, fallback]);
  t.equal((await hasty.sent).target.provider, fallback);
  t.equal(long.calls, 1);
  t.same(hasty.pauses, []);
});

t.test('D42 pauses double, within bounds, and vary', async (t) => {
  const full = run([new Player('one', 8, 'connect')], { breakers: new Breakers({ failures: 100 }) });
  await thrownBy(full.sent);
  t.same(full.pauses, [100, 200, 400, 800, 1_600, 2_000, 2_000]);
  const half = run([new Player('one', 3, 'connect')], { random: () => 0 });
  await thrownBy(half.sent);
  t.same(half.pauses, [50, 100]);
});

t.test('6.1 the body of a refusal is read to 64 KiB at most', async (t) => {
  const huge = new Player('one', 1, [400, {}, 'x'.repeat(100_000)]);
  const thrown = (await thrownBy(run([huge]).sent)) as UpstreamRejection;
  t.equal(thrown.body.length, 65_536);
  t.ok(huge.bodies[0]?.destroyed);
  t.notMatch(JSON.stringify(thrown), 'xxx', 'and does not show in a log of the error');
});

t.test('6.1 a refusal that never ends is cut off in time, what came of it kept', async (t) => {
  const body = new Readable({ read() {} });
  body.push('begun');
  t.equal(await readStart(body, 100, 20), 'begun');
  t.ok(body.destroyed);
});

t.test('6.2 a caller who leaves in a pause is not made to wait, and nobody else is asked', async (t) => {
  const leaving = new AbortController();
  const one = new Player('one', 3, 'connect');
  const two = new Player('two', 1, 200);
  const sent = send({
    targets: [one, two].map((provider) => ({ provider, model: 'm' })),
    build: () => ({ path: '/', headers: {}, body: '' }),
    signal: leaving.signal,
    breakers: new Breakers(),
    onAttempt: () => setImmediate(() => leaving.abort()),
  });
  t.match(await thrownBy(sent), { kind: 'aborted' });
  t.equal(one.calls + two.calls, 1);
});

t.test('6.2 a caller who leaves an attempt ends it all, and the circuit learns nothing', async (t) => {
  const breakers = new Breakers({ failures: 1 });
  const one = new Player('one', 3, 'aborted');
  const two = new Player('two', 1, 200);
  t.match(await thrownBy(run([one, two], { breakers }).sent), { kind: 'aborted' });
  t.equal(one.calls + two.calls, 1);
  t.equal(breakers.size, 0);
});

t.test('D42 what opens a circuit: connect, timeout, reset, 5xx and 529; not 4xx, not 429', async (t) => {
  const opens = async (play: Play): Promise<boolean> => {
    const breakers = new Breakers({ failures: 1 });
    await thrownBy(run([new Player('one', 1, play)], { breakers }).sent);
    return breakers.open === 1;
  };
  for (const play of ['connect', 'timeout', 'reset', 'unreadable', 500, 502, 503, 504, 529] as const)
    t.ok(await opens(play), String(play));
  for (const play of [200, 302, 400, 401, 404, 408, 429] as const) t.notOk(await opens(play), String(play));
});

t.test(
  'D42 a target with an open circuit is skipped; when all are open the caller is told how long',
  async (t) => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, ticksMs: () => nowMs };
    const breakers = new Breakers({ failures: 2, coolingMs: 10_000, clock });
    const one = new Player('one', 2, 503);
    await thrownBy(run([one], { breakers }).sent);
    t.equal(one.calls, 2);
    const two = new Player('two', 1, 200);
    t.equal((await run([one, two], { breakers }).sent).target.provider, two);
    t.equal(one.calls, 2, 'skipped');
    nowMs = 3_500;
    const thrown = await thrownBy(run([one], { breakers }).sent);
    t.ok(thrown instanceof CircuitOpen);
    t.match(thrown, { retryAfterS: 7 });

    nowMs = 10_000;
    const attempts = run([one], { breakers });
    t.match(await thrownBy(attempts.sent), { status: 503 }, 'the probe tells what it met');
    t.equal(one.calls, 3, 'one probe, although two attempts are allowed');
  },
);

t.test(
  'D42 a circuit that opens between two attempts ends them; the failure met is what is told',
  async (t) => {
    const one = new Player('one', 5, 503);
    const thrown = await thrownBy(run([one], { breakers: new Breakers({ failures: 2 }) }).sent);
    t.match(thrown, { status: 503 });
    t.equal(one.calls, 2);
  },
);

t.test('D42 what is no fault of a provider is passed on as it is', async (t) => {
  const mistake = new TypeError('ours');
  const one = new Player('one', 3, 200);
  const breakers = new Breakers({ failures: 1 });
  const built = run([one], {
    breakers,
    build: () => {
      throw mistake;
    },
  });
  t.equal(await thrownBy(built.sent), mistake);
  one.send = () => Promise.reject(mistake);
  t.equal(await thrownBy(run([one], { breakers }).sent), mistake);
  t.equal(breakers.size, 0);
});
