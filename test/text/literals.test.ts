import fc from 'fast-check';
import t from 'tap';
import { compileLiterals, compileLiteralsSlowly } from '../../src/text/literals.js';

const presentByHand = (literals: readonly string[], text: string): number[] =>
  literals.flatMap((literal, number) => (text.includes(literal) ? [number] : []));

const rising = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);

t.test('D29 every literal of the rules that a text contains is named, also inside another one', async (t) => {
  const literals = compileLiterals(['she', 'he', 'hers', 'his', 'he', '']);
  t.same(rising(literals.presentIn('ushers')), [0, 1, 2, 4, 5]);
  t.same(rising(literals.presentIn('USHERS')), [5]);
  t.same(rising(literals.presentIn('')), [5]);
  t.equal(literals.size, 6);
  t.same(rising(compileLiterals([]).presentIn('anything')), []);
});

t.test('literals agree with a plain search in any text', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'ß', '語', '😀', '\ud83d'), maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'ß', '語', '😀', '\ud83d'), maxLength: 40 }),
      (words, text) => {
        const found = rising(compileLiterals(words).presentIn(text));
        return JSON.stringify(found) === JSON.stringify(presentByHand(words, text));
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test('without regard to case, every place of the text stays what it was', async (t) => {
  const literals = compileLiterals(['Straße', 'ΟΔΟΣ', 'İstanbul', '𐐀'], { ignoreCase: true });
  t.same(rising(literals.presentIn('die STRAßE, οδος, οδοσ')), [0, 1]);
  t.same(rising(literals.presentIn('İSTANBUL 𐐨')), [2, 3]);
});

t.test('many literals compiled in slices give the same answers', async (t) => {
  const many = Array.from({ length: 5_000 }, (_, n) => `rule-${(n * 7919) % 5_003}-literal`);
  const slowly = await compileLiteralsSlowly(many);
  const text = 'nothing, rule-17-literal and rule-4242-literals';
  t.same(rising(slowly.presentIn(text)), presentByHand(many, text));
});
