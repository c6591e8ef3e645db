import fc from 'fast-check';
import t from 'tap';
import { parseJson } from '../../../src/io/http/parse-json.js';

const parse = (text: string) => parseJson(Buffer.from(text));
const nest = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

t.test('D11 any JSON text comes back as JSON.parse gives it', async () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      const parsed = parse(spaced);
      if (!parsed.ok) return spaced.includes('__proto__');
      return JSON.stringify(parsed.value) === JSON.stringify(JSON.parse(spaced));
    }),
  );
});

t.test('D11 brackets, quotes and numbers inside strings are only text', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('[', '{', '"', '\\', '1e999', 'a', 'é', '\u0000', ' '.repeat(70)), {
        maxLength: 200,
      }),
      (pieces) => {
        const value = { text: pieces.join(''), after: [1] };
        const parsed = parse(JSON.stringify(value));
        return parsed.ok && JSON.stringify(parsed.value) === JSON.stringify(value);
      },
    ),
  );
  t.match(parse(`{"a":"${'['.repeat(1_000)}"}`), { ok: true });
});

t.test('nesting is bounded before it is parsed', async (t) => {
  t.match(parse(nest(64)), { ok: true });
  t.match(parse(nest(65)), { ok: false, message: /deeper than 64/ });
  t.match(parse(nest(10_000)), { ok: false, message: /deeper than 64/ });
  t.match(parse('{"a":'.repeat(10_000)), { ok: false, message: /deeper than 64/ });
  t.match(
    parse(`["${'x'.repeat(500)}\\"",${nest(64)}]`),
    { ok: false, message: /deeper than 64/ },
    'after a long string',
  );
});

t.test('numbers beyond a double are refused', async (t) => {
  for (const text of ['1e400', '-1e400', '[1.5E+309]', `{"a":${'9'.repeat(400)}}`, `-${'9'.repeat(400)}.5`])
    t.match(parse(text), { ok: false, message: /too large/ }, text.slice(0, 20));
  t.match(parse('[1e308,1e-400,9007199254740993,-0,1.5e+2,true,false,null]'), { ok: true });
  t.match(parse('{"a":"1e400"}'), { ok: true, value: { a: '1e400' } });
});

t.test('text that is not UTF-8 is refused, a byte order mark is not', async (t) => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0xaf, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xe2, 0x82, 0x22],
  ])
    t.match(parseJson(Buffer.from(bytes)), { ok: false, message: /UTF-8/ });
  t.match(parse('\ufeff{"a":"é"}'), { ok: true, value: { a: 'é' } });
  t.match(
    parse('"\\ud800"'),
    { ok: true, value: '\ud800' },
    'an escaped lone surrogate is the sender’s own affair',
  );
});

t.test('of two equal keys the last one counts', async (t) => {
  t.strictSame(parse('{"model":"a","model":"b"}'), { ok: true, value: { model: 'b' } });
});

t.test('a key __proto__ is refused however it is spelt, as text it passes', async (t) => {
  for (const key of ['__proto__', '\\u005f_proto__', '__pr\\u006Fto__', '_\\u005F\\u0070roto__'])
    t.match(parse(`{"a":[{"b":{"${key}":{"admin":true}}}]}`), { ok: false, message: /__proto__/ }, key);
  t.match(parse('{"a":"what is __proto__ and \\u005f?"}'), { ok: true });
  t.match(parse('{"constructor":{"prototype":1}}'), { ok: true });
});

t.test('D11 malformed text is told by its place, never by its words', async (t) => {
  for (const text of [
    '{',
    '{"secret":hunter2}',
    '[1,]',
    'hunter2',
    '"hunter2',
    '{"a":1}}',
    '\0',
    '[1 2]',
    '"\\',
    "{'a':1}",
    '01',
    '1e',
    '--1',
  ]) {
    const parsed = parse(text);
    t.match(parsed, { ok: false, message: /not valid JSON/ }, JSON.stringify(text));
    if (!parsed.ok) t.notMatch(parsed.message, /hunter2/);
  }
  t.match(parse(''), { ok: false, message: /empty/ });
  t.match(parse('\ufeff'), { ok: false, message: /empty/ });
});

t.test('no bytes whatever make it throw', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      (bytes) => typeof parseJson(Buffer.from(bytes)).ok === 'boolean',
    ),
    { numRuns: 500 },
  );
  const token = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ',',
    ':',
    '1',
    'e',
    '-',
    '.',
    'true',
    '\\u005f',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
      const text = tokens.join('');
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      return parse(text).ok === valid || /1+e/.test(text);
    }),
    { numRuns: 1_000 },
  );
});
