import fc from 'fast-check';
import t from 'tap';
import { applyEdits, createRedactor, type Edit } from '../../src/text/redact.js';
import { cutAt, cuts } from './cuts.js';

const parts = fc.constantFrom(
  ...[
    'a',
    'b',
    'é',
    '語',
    '😀',
    '\ud83d',
    ' ',
    ' ',
    '\n',
    '.',
    '-',
    '-',
    '_',
    '+',
    '(',
    ')',
    '@',
    '/',
    ':',
    "'",
    '#',
  ],
  ...[
    '1',
    '0',
    '5',
    '12',
    '123',
    '4567',
    'call ',
    '\u00a0',
    'x'.repeat(70),
    '7'.repeat(12),
    'k9'.repeat(600),
  ],
  ...['jo', 'jo@', '@example.com', 'jo.x@example.co', '.uk', 'example', '.com'],
  ...[
    '4111',
    ' 1111',
    '-1111',
    '4111111111111111',
    '4111 1111 1111 1111',
    '378282246310005',
    '3782 822463 10005',
  ],
  ...[
    '123-45-6789',
    '123-45-',
    '6789',
    '078 05 1120',
    'DE89',
    '370400440532013000',
    'DE89 3704 0044 0532 0130 00',
  ],
  ...['+1', '+44 20 7946 0958', '(555) 123-4567', '(555', '555-123-4567', '0171-1234567', '06 12 34 56 78'],
  ...[
    'sk-',
    'sk-ant-',
    'AKIA',
    'IOSFODNN7EXAMPLE',
    'ghp_',
    'a1B2c3D4e5F6g7H8i9J0',
    'xoxb-',
    'eyJ',
    'eyJhbGciOiJI.',
  ],
  ...[
    'eyJhbGciOiJI.eyJzdWIiOiIx.dBjftJeZ4CVP',
    '-----',
    '-----BEGIN RSA ',
    'PRIVATE KEY-----',
    '-----END RSA ',
  ],
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'],
);
const texts = fc.array(parts, { maxLength: 14 }).map((some) => some.join(''));

interface Followed {
  readonly edits: readonly Edit[];
  readonly safes: readonly number[];
}

const follow = (pieces: readonly string[]): Followed => {
  const follower = createRedactor().follow();
  const edits: Edit[] = [];
  const safes: number[] = [];
  const collect = (): void => {
    const taken = follower.takeEdits();
    const [before, now] = [safes.at(-1) ?? 0, follower.safe];
    if (now < before) throw new Error('what was safe is not any more');
    if (taken.some(({ from, to }) => from < before || to > now))
      throw new Error('an edit outside what became safe');
    edits.push(...taken);
    safes.push(now);
  };
  for (const piece of pieces) {
    follower.write(piece);
    collect();
  }
  follower.end();
  collect();
  return { edits, safes };
};

t.test(
  'D19 a stream in any pieces leaves as the whole would, and nothing leaves before it is decided',
  async () => {
    fc.assert(
      fc.property(texts, cuts, (text, at) => {
        const whole = createRedactor().redact(text).text;
        for (const pieces of [cutAt(text, at), text.length < 200 ? text.split('') : [text]]) {
          const { edits, safes } = follow(pieces);
          if (applyEdits(text, edits) !== whole || safes.at(-1) !== text.length) return false;
        }
        return true;
      }),
      { numRuns: 10_000 },
    );
  },
);

t.test('D19 values come in order and never overlap', async () => {
  fc.assert(
    fc.property(texts, (text) => {
      const spans = createRedactor().spans(text);
      return spans.every(({ from, to }, n) => from < to && from >= (spans[n - 1]?.to ?? 0));
    }),
    { numRuns: 2_000 },
  );
});

const safeAfter = (text: string): number => {
  const follower = createRedactor().follow();
  follower.write(text);
  return follower.safe;
};

t.test('D19 only what may become a value is held', async (t) => {
  t.equal(safeAfter('Nothing here. '), 14);
  t.equal(safeAfter('The word'), 4, 'may become an address');
  t.equal(safeAfter('The word,'), 9);
  t.equal(safeAfter('in 2024, '), 9);
  t.equal(safeAfter('call (555'), 5);
  t.equal(safeAfter('card 4111 1111 '), 5);
  t.equal(safeAfter('語語語'), 3);
  t.equal(safeAfter('x'.repeat(65)), 65, 'too long for one');
  t.equal(safeAfter('see --'), 4);
  t.equal(safeAfter(`sk-${'a1'.repeat(400)}`), 0);
});

t.test('D19 a private key leaves nothing but its placeholder, and nothing of it is kept', async (t) => {
  const follower = createRedactor().follow();
  follower.write('key: -----BEGIN PRIVATE KEY-----\n');
  t.same(
    follower.takeEdits().map(({ text }) => text),
    ['[SECRET_1]', ''],
  );
  for (let n = 0; n < 100; n++) follower.write('MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n');
  t.equal(follower.safe, 33 + 100 * 41);
  t.ok(follower.takeEdits().every(({ text }) => text === ''));
  follower.write('-----END PRIV');
  follower.write('ATE KEY----- and on');
  follower.end();
  t.match(follower.takeEdits(), [{ text: '', from: 33 + 100 * 41, to: 33 + 100 * 41 + 25 }]);
});

t.test('D19 a token longer than is held is left out to its end', async (t) => {
  const token = `sk-${'a1B2'.repeat(2_000)}`;
  t.equal(createRedactor().redact(`x ${token} y`).text, 'x [SECRET_1] y');
  const { edits } = follow(`x ${token} y`.match(/.{1,7}/gs)!);
  t.equal(applyEdits(`x ${token} y`, edits), 'x [SECRET_1] y');
});
