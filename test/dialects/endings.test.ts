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

/** A frame as a client reads it: the last event name counts, and all its data lines make one text. */
interface Heard {
  readonly event: string | undefined;
  readonly data: string;
  readonly json: { readonly type?: unknown; readonly error?: unknown };
}

const hear = (frame: string): Heard => {
  const lines = frame.split('\n');
  const valuesOf = (field: string): string[] =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
  const data = valuesOf('data').join('\n');
  let json: unknown = null;
  try {
    json = JSON.parse(data);
  } catch {
    // No client can read it either.
  }
  return {
    event: valuesOf('event').at(-1),
    data,
    json: typeof json === 'object' && json !== null ? json : {},
  };
};

const isSuccess: Readonly<Record<DialectName, (heard: Heard) => boolean>> = {
  messages: ({ event }) => event === 'message_stop',
  chat: ({ data }) => data === '[DONE]',
  responses: ({ json }) => /^response\.(?:completed|incomplete|failed)$/.test(String(json.type)),
};

const isFailure: Readonly<Record<DialectName, (heard: Heard) => boolean>> = {
  messages: ({ event }) => event === 'error',
  chat: ({ json }) => json.error !== undefined,
  responses: ({ event }) => event === 'error',
};

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
          const heard = text.split('\n\n').map(hear);
          const succeeded = heard.filter(isSuccess[name]).length;
          const failed = heard.filter(isFailure[name]).length;
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
