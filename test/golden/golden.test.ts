import fc from 'fast-check';
import t from 'tap';
import { cutInto, goldenBytes, goldens, replayGolden, type Golden } from './replay.js';
import { variants, withLineEnds } from './variants.js';

const title = (golden: Golden): string => `${golden.dialect} ${golden.name}: ${golden.says}`;

for (const golden of goldens) {
  t.test(title(golden), async (t) => {
    const input = goldenBytes(golden, 'in');
    const expected = goldenBytes(golden, 'out').toString();
    for (const [name, chunks] of variants(input)) {
      const seen = await replayGolden(golden, chunks);
      t.equal(seen.output.toString(), expected, `${name}: the client's stream`);
      t.match(
        seen,
        {
          done: true,
          settled: golden.ending === 'complete' ? 1 : 0,
          truncated: golden.ending === 'complete' ? 0 : 1,
          firstTokens: golden.firstToken === false ? 0 : 1,
        },
        `${name}: what the walk was told`,
      );
      t.same(
        seen.usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
        golden.usage,
        name,
      );
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        async (lengths, lineEnd) => {
          const seen = await replayGolden(golden, cutInto(withLineEnds(input, lineEnd), lengths));
          return seen.output.toString() === expected;
        },
      ),
      { numRuns: 25 },
    );
  });
}
