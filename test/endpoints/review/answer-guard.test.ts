import fc from 'fast-check';
import t from 'tap';
import type { Channel, Guard } from '../../../src/dialects/guard.js';
import { createRedactor } from '../../../src/text/redact.js';
import { DENIED, makeGuard, published } from './make-guard.js';

const TEXT: Channel = { kind: 'text', id: '0' };

/** Writes a text in pieces; gives what had left after each, with the edits in it. */
const watch = (guard: Guard, text: string, lengths: readonly number[]): readonly string[] => {
  const seen: string[] = [];
  const edits: { from: number; to: number; text: string }[] = [];
  const look = (): void => {
    edits.push(...guard.takeEdits());
    let out = '';
    let at = 0;
    for (const edit of edits) {
      if (edit.from >= guard.clear) break;
      out += text.slice(at, edit.from) + edit.text;
      at = edit.to;
    }
    seen.push(out + text.slice(at, Math.max(at, guard.clear)));
  };
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length]!;
    guard.write(TEXT, text.slice(at, at + length));
    look();
    at += length;
  }
  guard.close(TEXT);
  guard.end();
  look();
  return seen;
};

const filler = fc.constantFrom(
  'the ',
  'quick brown ',
  'fox. ',
  'for ',
  'forbidden ',
  'fruit ',
  'zork ',
  'code ',
  'word ',
  'a@b ',
  '4111 ',
  'naïf ',
  '😀 ',
  '\n',
);
const denied = fc.constantFrom(
  'forbidden fruit ',
  'Forbidden\n fruit ',
  'ZORKMID ',
  'zork\u200bmid ',
  'naïve ',
  'nai\u0308ve ',
);
const data = fc.constantFrom(
  'jane.doe@example.com ',
  '4111 1111 1111 1111 ',
  'DE89 3704 0044 0532 0130 00 ',
  'sk-ant-REDACTED ',
);
const spans = fc.constantFrom('code word alpha ', 'CODE   word beta ', 'code\nword gamma ');
const SECRETS = [
  'jane.doe@example.com',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  'abcdefghijklmnopqrstuvwxyz0123456789',
];
const lengths = fc.oneof(
  fc.constantFrom([1], [2], [3], [7], [40]),
  fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
);

const textOf = (special: fc.Arbitrary<string>) =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: filler }, { weight: 1, arbitrary: special }), {
      minLength: 1,
      maxLength: 40,
    })
    .map((pieces) => pieces.join(''));

const hasTerm = (text: string): boolean =>
  /(?<![\p{L}\p{N}])(?:forbidden\s+fruit|zorkmid|naïve)(?![\p{L}\p{N}])/iu.test(
    text.replaceAll('\u200b', '').normalize('NFKC'),
  );

for (const mode of ['adaptive', 'hold', 'buffer'] as const) {
  t.test(`D19 in mode ${mode} no denied term ever leaves, however it is cut`, async (t) => {
    let stopped = 0;
    await fc.assert(
      fc.asyncProperty(textOf(denied), lengths, async (text, cuts) => {
        const guard = await makeGuard(mode, { denylist: DENIED });
        for (const left of watch(guard, text, cuts)) if (hasTerm(left)) return false;
        if (guard.stop) stopped++;
        return (guard.stop !== null) === hasTerm(text);
      }),
      { numRuns: 3_500 },
    );
    t.ok(stopped > 200, 'many of them held one');
  });

  t.test(`D17 in mode ${mode} personal data leaves only masked, and nothing else is changed`, async (t) => {
    let masked = 0;
    await fc.assert(
      fc.asyncProperty(textOf(data), lengths, async (text, cuts) => {
        const guard = await makeGuard(mode, { redact: true });
        const seen = watch(guard, text, cuts);
        for (const left of seen) if (SECRETS.some((secret) => left.includes(secret))) return false;
        const whole = createRedactor().redact(text);
        if (whole.count > 0) masked++;
        return seen.at(-1) === whole.text;
      }),
      { numRuns: 3_500 },
    );
    t.ok(masked > 200);
  });

  t.test(`D30 in mode ${mode} no span an enforcing policy matches ever leaves`, async (t) => {
    let stopped = 0;
    const matches = /code\s+word\s+[a-z]{3,8}/i;
    await fc.assert(
      fc.asyncProperty(textOf(spans), lengths, async (text, cuts) => {
        const guard = await makeGuard(mode, {}, { policies: published });
        for (const left of watch(guard, text, cuts)) if (matches.test(left)) return false;
        if (guard.stop) stopped++;
        return (guard.stop !== null) === matches.test(text);
      }),
      { numRuns: 3_000 },
    );
    t.ok(stopped > 100);
  });
}

t.test('D38 without a hold an answer stops at what is found, and keeps back what came with it', async (t) => {
  const guard = await makeGuard('async', { denylist: DENIED });
  guard.write(TEXT, 'Some ');
  t.equal(guard.clear, 5);
  guard.write(TEXT, 'zorkmid coins ');
  t.equal(guard.clear, 5);
  t.match(guard.stop?.notice, /Output blocked by content filtering policy/);
});

t.test('D38 a harmless answer is held up by nothing but what could still become a match', async (t) => {
  const guard = await makeGuard('adaptive', { denylist: DENIED, redact: true });
  guard.write(TEXT, 'Here is the answer. ');
  t.equal(guard.clear, 20);
  guard.write(TEXT, 'It is forbidden ');
  t.ok(guard.clear < 36 && guard.clear >= 25, String(guard.clear));
  guard.write(TEXT, 'to smoke. ');
  t.equal(guard.clear, 46);
  t.equal(guard.stop, null);
});

t.test('D38 a tool call leaves when it is whole, with its arguments masked as JSON', async (t) => {
  const guard = await makeGuard('adaptive', { redact: true });
  const call: Channel = { kind: 'tool', id: '1' };
  guard.write(call, 'send_mail ', true);
  guard.write(call, '{"to":"jane.doe@exam');
  t.equal(guard.clear, 0);
  guard.write(call, 'ple.com","body":"hi"}');
  t.equal(guard.clear, 0);
  guard.close(call);
  t.equal(guard.clear, 51);
  t.same(guard.takeEdits(), [{ from: 10, to: 51, text: '{"to":"[EMAIL_1]","body":"hi"}' }]);
});

t.test('D38 channels that take turns are judged apart', async (t) => {
  const guard = await makeGuard('adaptive', { denylist: DENIED });
  const [one, two]: Channel[] = [
    { kind: 'text', id: '1' },
    { kind: 'text', id: '2' },
  ];
  guard.write(one!, 'forbidden ');
  guard.write(two!, 'fruit ');
  t.equal(guard.stop, null);
  t.equal(guard.clear, 0, 'what follows waits behind what may become a match');
  guard.write(one!, 'zone');
  guard.close(one!);
  guard.close(two!);
  t.equal(guard.clear, 20);
  t.equal(guard.stop, null);
});
