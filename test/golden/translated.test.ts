import fc from 'fast-check';
import t from 'tap';
import { noUsage } from '../../src/core/usage.js';
import { checkStream } from '../dialects/encode/check.js';
import { cutInto, goldenBytes } from './replay.js';
import { pairs, readTranslated, replayGoldenTranslated, translatable } from './translated.js';
import { variants, withLineEnds } from './variants.js';

/** Where a translation ends otherwise than the same format would: a failed response is no answer elsewhere. */
const truncatedHere = new Set(['responses failed']);

for (const [from, to] of pairs) {
  const expected = readTranslated(from, to);

  t.test(`4.10 every golden stream of ${from} has its translation to ${to}`, async (t) => {
    t.same(
      [...expected.keys()],
      translatable(from).map(({ name }) => name),
    );
  });

  for (const golden of translatable(from)) {
    t.test(`4.10 ${from} to ${to}, ${golden.name}: ${golden.says}`, async (t) => {
      const input = goldenBytes(golden, 'in');
      const stream = expected.get(golden.name)!;
      const complete = golden.ending === 'complete' && !truncatedHere.has(`${from} ${golden.name}`);
      for (const [name, chunks] of variants(input)) {
        const seen = await replayGoldenTranslated(golden, to, chunks);
        t.equal(seen.output.toString(), stream, `${name}: the client's stream`);
        t.match(
          seen,
          {
            done: true,
            settled: complete ? 1 : 0,
            truncated: complete ? 0 : 1,
            firstTokens: golden.firstToken === false ? 0 : 1,
          },
          `${name}: what the walk was told`,
        );
        t.same(seen.usage ?? noUsage, golden.usage, `${name}: usage`);
      }
      const heard = checkStream(to, stream);
      t.equal(heard.error === null, complete, 'it ends as it should');
      if (complete) {
        t.not(heard.finish, null);
        t.match(heard.usage, { estimated_credits_used: 12, remaining_credits: 99_988 }, 'credits are there');
      }
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
          fc.constantFrom('\n', '\r\n', '\r'),
          async (lengths, lineEnd) => {
            const chunks = cutInto(withLineEnds(input, lineEnd), lengths);
            const seen = await replayGoldenTranslated(golden, to, chunks);
            return seen.output.toString() === stream;
          },
        ),
        { numRuns: 10 },
      );
    });
  }
}
