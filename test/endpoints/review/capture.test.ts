import fc from 'fast-check';
import t from 'tap';
import { Capture, contentOfText } from '../../../src/endpoints/review/capture.js';
import { createRedactor } from '../../../src/text/redact.js';

const MOST = 16_384;
const values = [
  'jane.doe@example.com',
  '4111 1111 1111 1111',
  'sk-ant-api03-Zq8Xv2Lw9Rt4Yp6Ks1Dm3Nb5Hc7Jf0GaQeUiOxTzWyVrBnMl',
  `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(60)}-----END PRIVATE KEY-----`,
];
/** Long enough that no placeholder and no ordinary word has it. */
const telling = (value: string): string[] =>
  [0, Math.floor(value.length / 2) - 6, value.length - 12].map((at) => value.slice(at, at + 12));

const placed = fc.record({
  value: fc.constantFrom(...values),
  /** Around the bound, where text is cut. */
  at: fc.integer({ min: MOST - 2_500, max: MOST + 50 }),
  cuts: fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 }),
});

const textWith = (value: string, at: number): string =>
  `${'word '.repeat(8_000).slice(0, at)} ${value} ${'and so on '.repeat(800)}`;

const piece = (text: string, n: number) => ({
  text,
  role: 'user' as const,
  at: `messages.${n}.content`,
  isFixed: false,
});

const checkHidden = (value: string, content: unknown): boolean => {
  const shown = JSON.stringify(content);
  return telling(value).every((part) => !shown.includes(JSON.stringify(part).slice(1, -1)));
};

t.test('D28 no part of a value is kept, wherever the text is cut', async () => {
  fc.assert(
    fc.property(placed, ({ value, at, cuts }) => {
      const text = textWith(value, at);
      const capture = new Capture([piece(text, 0)], createRedactor());
      const hear = capture.listen();
      for (let from = 0, n = 0; from < text.length; n++) {
        const to = from + cuts[n % cuts.length]!;
        hear({ kind: 'text', id: '0' }, text.slice(from, to), false);
        from = to;
      }
      const content = capture.content();
      const lengths = [content.request[0]!.text.length, content.response[0]!.text.length];
      return checkHidden(value, content) && lengths.every((length) => length <= MOST + 100);
    }),
    { numRuns: 200 },
  );
});

t.test('D28 what is kept and what is not add up to what was said', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 8 }), (lengths) => {
      const texts = lengths.map((length) => 'a '.repeat(length).slice(0, length));
      const pieces = texts.map(piece);
      const capture = new Capture(pieces, createRedactor());
      const hear = capture.listen();
      texts.forEach((text, n) => hear({ kind: 'text', id: `${n}` }, text, false));
      const { request, response, ...omitted } = capture.content();
      const total = lengths.reduce((sum, length) => sum + length, 0);
      const sum = (said: readonly { readonly text: string }[]): number =>
        said.reduce((all, { text }) => all + text.length, 0);
      return (
        sum(request) + (omitted.request_omitted_characters ?? 0) === total &&
        sum(response) + (omitted.response_omitted_characters ?? 0) === total &&
        sum(request) === Math.min(MOST, total)
      );
    }),
  );
});

t.test('D28 a call that was cut is left out: its JSON no longer says what its strings are', async (t) => {
  const capture = new Capture([], createRedactor());
  const hear = capture.listen();
  const channel = { kind: 'tool', id: '0' } as const;
  hear(channel, 'save ', true);
  hear(channel, `{"body":"${'x'.repeat(30_000)}`, false);
  hear({ kind: 'text', id: '1' }, 'Saved.', false);
  const { response, response_omitted_characters: omitted } = capture.content();
  t.same(response, [], 'nothing after it was heard either');
  t.equal(omitted, 30_009 + 6);
});

t.test('D28 a call is masked by what its strings say, however they are spelt', async (t) => {
  const capture = new Capture([], createRedactor());
  capture.listen()({ kind: 'tool', id: '0' }, '{"to":"jane.doe\\u0040example.com"}', false);
  t.match(capture.content().response, [{ kind: 'tool', text: '{"to":"[EMAIL_1]"}' }]);
});

t.test('D20 the content of a text nobody sent', async (t) => {
  t.same(contentOfText('Write to jane.doe@example.com.', 'response'), {
    request: [],
    response: [{ attempt: 1, kind: 'text', text: 'Write to [EMAIL_1].' }],
  });
});
