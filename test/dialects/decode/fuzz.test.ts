import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import type { InferenceEvent } from '../../../src/core/events.js';
import type { Json } from '../../../src/dialects/dialect.js';
import { translateWhole } from '../../../src/dialects/translate-whole.js';
import { cutInto, dialects } from '../../golden/replay.js';
import { pairs, replayTranslated } from '../../golden/translated.js';
import { checkStream } from '../encode/check.js';
import { faults } from './faults.js';
import { formats, newDecoder, outline, readStream } from './read-stream.js';
import { stream, type Wire } from './wire.js';

const wires = (format: string): readonly Wire[] =>
  faults.flatMap((fault) => (fault.format === format ? fault.frames : []));

const keysIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? [value] : [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...keysIn(member)]);
};

/** JSON made of the words the format knows, in any order and shape. */
const anyJson = (format: string): fc.Arbitrary<unknown> => {
  const words = [...new Set(wires(format).flatMap(keysIn))];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(...words, '', null, 0, 1, -1, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...words), tie('value'), { maxKeys: 5 }),
    ),
  }));
  return value;
};

for (const format of formats) {
  t.test(`4.10 nothing an upstream of ${format} sends makes its decoder throw`, async () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 6 }), (chunks) => {
        readStream(
          format,
          chunks.map((chunk) => Buffer.from(chunk)),
        );
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(anyJson(format), { maxLength: 8 }), (values) => {
        const bytes = Buffer.from(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''));
        outline(readStream(format, [bytes]).events.filter(({ type }) => type !== 'error'));
        for (const value of values) newDecoder(format, () => {}).takeWhole((value ?? {}) as Json);
      }),
      { numRuns: 400 },
    );
  });

  t.test(
    `4.10 any mixture of what upstreams of ${format} send ends once, in the order of the events`,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...wires(format)), { minLength: 1, maxLength: 14 }),
          fc.constantFrom(...pairs.filter(([from]) => from === format)),
          fc.integer({ min: 1, max: 500 }),
          async (frames, [from, to], length) => {
            const bytes = stream(format, frames);
            const chunks = cutInto(bytes, [length]);
            const { events, complete } = readStream(format, chunks);
            outline(complete ? events : events.filter(isNoEnd));
            const seen = await replayTranslated(from, to, chunks);
            const heard = checkStream(to, seen.output.toString());
            assert.equal(heard.error === null, complete);
            assert.equal(seen.settled + seen.truncated, 1);
            assert.ok(seen.done);
          },
        ),
        { numRuns: 500 },
      );
    },
  );
}

const isNoEnd = ({ type }: InferenceEvent): boolean => type !== 'error';

t.test('4.10 a whole answer that is none throws the error the client is to see', async (t) => {
  for (const [from, to] of pairs) {
    const request = dialects[to].read({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    for (const body of [
      '',
      '[]',
      '{}',
      '{"error":{"message":"no","type":"overloaded_error"}}',
      'null',
      '{"choices":[]}',
    ])
      await t.rejects(
        () => translateWhole(from, to, Buffer.from(body), request),
        GatewayError,
        `${from} ${to} ${body}`,
      );
  }
});
