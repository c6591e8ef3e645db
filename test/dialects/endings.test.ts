import fc from 'fast-check';
import t from 'tap';
import type { DialectName } from '../../src/dialects/dialect.js';
import { cutInto, dialects, goldenBytes, goldens, replay } from '../golden/replay.js';

const eventsOf = (name: DialectName): string[] =>
  goldens
    .filter(({ dialect, ending }) => dialect === name && ending === 'complete')
    .flatMap((golden) =>
      goldenBytes(golden, 'in')
        .toString('latin1')
        .split(/(?<=\n\n)/),
    );

const success: Readonly<Record<DialectName, RegExp>> = {
  messages: /^event: message_stop$/m,
  chat: /^data: \[DONE\]$/m,
  responses: /^data: {"type":"response\.(?:completed|incomplete|failed)"/m,
};

const failure: Readonly<Record<DialectName, RegExp>> = {
  messages: /^event: error$/m,
  chat: /^data: {"error":/m,
  responses: /^event: error$/m,
};

const count = (text: string, pattern: RegExp): number => text.split(pattern).length - 1;

for (const name of Object.keys(dialects) as DialectName[]) {
  const part = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...eventsOf(name)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '\n',
        '\r',
        'data:\n\n',
        'data: {}\n\n',
        'data: 1\n\n',
        ': c\n\n',
        'data: {',
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 10 }) },
  );

  t.test(`${name}: whatever the upstream sends, the client gets exactly one ending`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 25 }),
        fc.integer({ min: 1, max: 500 }),
        fc.boolean(),
        async (parts, length, resets) => {
          const chunks = cutInto(Buffer.from(parts.join(''), 'latin1'), [length]);
          const seen = await replay(name, chunks, resets ? { fault: new Error('reset') } : {});
          const text = seen.output.toString();
          const [succeeded, failed] = [count(text, success[name]), count(text, failure[name])];
          return (
            seen.done &&
            succeeded === seen.settled &&
            failed === seen.truncated &&
            succeeded + failed === 1 &&
            seen.firstTokens <= 1 &&
            text.endsWith('\n\n') &&
            !text.includes('\r')
          );
        },
      ),
      { numRuns: 200 },
    );
  });
}
