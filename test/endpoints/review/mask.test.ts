import fc from 'fast-check';
import t from 'tap';
import { maskArguments, maskArgumentsSlowly } from '../../../src/endpoints/review/mask.js';
import { Turns } from '../../../src/endpoints/review/turns.js';
import { createRedactor } from '../../../src/text/redact.js';

const mask = (text: string): string => maskArguments(text, createRedactor());

t.test('D17 keys and numbers of a call are masked as its strings are', async (t) => {
  for (const [given, masked] of [
    ['{"card":4111111111111111}', '{"card":"[CARD_1]"}'],
    ['{"card":4.111111111111111e15, "n": 1.50}', '{"card":"[CARD_1]", "n": 1.50}'],
    ['{"alice@example.com":1}', '{"[EMAIL_1]":1}'],
    ['{"a":"alice\\u0040example.com"}', '{"a":"[EMAIL_1]"}'],
    ['{"a":"alice@example.com","a":"x"}', '{"a":"[EMAIL_1]","a":"x"}'],
    ['{"a":"alice\\u0040example.com, and th', '{"a":"[EMAIL_1], and th'],
    ['Write to "alice@example.com"\n4111111111111111', 'Write to "[EMAIL_1]"\n[CARD_1]'],
  ] as const) {
    t.equal(mask(given), masked, given);
    t.equal((await maskArgumentsSlowly(given, createRedactor(), new Turns())).text, masked);
  }
});

t.test('D17 a call without values stays as it is spelt', async () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat({ max: 40 }), (text, cut) => {
      if (createRedactor().redact(text).count > 0) return true;
      return mask(text) === text && mask(text.slice(0, -cut)) === text.slice(0, -cut);
    }),
  );
});

t.test('D17 a masked call is JSON, however deep it is', async (t) => {
  const deep = `${'['.repeat(100_000)}"alice@example.com"${']'.repeat(100_000)}`;
  t.equal(mask(deep), deep.replace('alice@example.com', '[EMAIL_1]'));
});
