import fc from 'fast-check';
import t from 'tap';
import { Breakers } from '../../../src/io/upstream/breaker.js';

const drive = (options: { readonly failures?: number; readonly maxCircuits?: number } = {}) => {
  let nowMs = 1_000;
  const clock = { nowMs: () => nowMs, ticksMs: () => nowMs };
  const breakers = new Breakers({ failures: 3, coolingMs: 1_000, clock, ...options });
  return {
    breakers,
    advance: (byMs: number): void => void (nowMs += byMs),
    fail: (times: number, model = 'm'): void => {
      for (let i = 0; i < times; i++) breakers.leave('p', model, breakers.enter('p', model)!, 'failing');
    },
  };
};

t.test('D42 a circuit opens after so many failures in a row, for that provider and model only', async (t) => {
  const { breakers, fail } = drive();
  fail(2);
  t.equal(breakers.enter('p', 'm'), 'regular');
  fail(1);
  t.equal(breakers.enter('p', 'm'), null);
  t.equal(breakers.waitMs('p', 'm'), 1_000);
  t.equal(breakers.enter('p', 'other'), 'regular');
  t.equal(breakers.enter('other', 'm'), 'regular');
  t.equal(breakers.open, 1);
});

t.test('D42 one success in between starts the count again', async (t) => {
  const { breakers, fail } = drive();
  fail(2);
  breakers.leave('p', 'm', 'regular', 'alive');
  fail(2);
  t.equal(breakers.enter('p', 'm'), 'regular');
});

t.test('D42 after the cooling time one call probes, and its success closes the circuit', async (t) => {
  const { breakers, fail, advance } = drive();
  fail(3);
  advance(999);
  t.equal(breakers.enter('p', 'm'), null);
  advance(1);
  t.equal(breakers.enter('p', 'm'), 'probe');
  t.equal(breakers.enter('p', 'm'), null, 'one only');
  breakers.leave('p', 'm', 'probe', 'alive');
  t.equal(breakers.enter('p', 'm'), 'regular');
  t.equal(breakers.size, 0);
});

t.test('D42 a probe that fails opens the circuit for another cooling time', async (t) => {
  const { breakers, fail, advance } = drive();
  fail(3);
  advance(1_000);
  t.equal(breakers.enter('p', 'm'), 'probe');
  advance(500);
  breakers.leave('p', 'm', 'probe', 'failing');
  advance(999);
  t.equal(breakers.enter('p', 'm'), null);
  advance(1);
  t.equal(breakers.enter('p', 'm'), 'probe');
});

t.test('D42 a probe whose caller left gives its place to the next call', async (t) => {
  const { breakers, fail, advance } = drive();
  fail(3);
  advance(1_000);
  breakers.leave('p', 'm', breakers.enter('p', 'm')!, 'unknown');
  t.equal(breakers.enter('p', 'm'), 'probe');
});

t.test('D42 a probe that never reports does not keep the circuit open for ever', async (t) => {
  const { breakers, fail, advance } = drive();
  fail(3);
  advance(1_000);
  t.equal(breakers.enter('p', 'm'), 'probe');
  advance(1_000);
  t.equal(breakers.enter('p', 'm'), 'probe');
});

t.test(
  'D42 calls that went out before the circuit opened neither prolong it nor free the probe',
  async (t) => {
    const { breakers, fail, advance } = drive();
    fail(3);
    advance(900);
    breakers.leave('p', 'm', 'regular', 'failing');
    breakers.leave('p', 'm', 'regular', 'unknown');
    t.equal(breakers.enter('p', 'm'), null);
    advance(100);
    t.equal(breakers.enter('p', 'm'), 'probe');
  },
);

t.test('lesson 36 circuits are bounded in number, the oldest is forgotten', async (t) => {
  const { breakers, fail } = drive({ maxCircuits: 2 });
  fail(3, 'a');
  fail(3, 'b');
  fail(3, 'c');
  t.equal(breakers.size, 2);
  t.equal(breakers.enter('p', 'a'), 'regular');
  t.equal(breakers.enter('p', 'c'), null);
});

t.test('D42 whatever happens, an open circuit lets out at most one call in each cooling time', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ byMs: fc.integer({ min: 0, max: 700 }), fails: fc.boolean() }), {
        maxLength: 100,
      }),
      (calls) => {
        const { breakers, advance } = drive({ failures: 1 });
        let nowMs = 0;
        let openedMs: number | null = null;
        for (const { byMs, fails } of calls) {
          advance(byMs);
          nowMs += byMs;
          const pass = breakers.enter('p', 'm');
          if (pass && openedMs !== null && nowMs - openedMs < 1_000) return false;
          if (!pass && openedMs === null) return false;
          if (!pass) continue;
          breakers.leave('p', 'm', pass, fails ? 'failing' : 'alive');
          openedMs = fails ? nowMs : null;
        }
        return true;
      },
    ),
  );
});
