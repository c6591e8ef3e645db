import fc from 'fast-check';
import t from 'tap';
import { confusables } from '../../src/text/fold-confusables.js';
import { normalise } from '../../src/text/normalise.js';

t.test('text in disguise is read as what people see', async (t) => {
  const spelt: Readonly<Record<string, string>> = {
    capitals: 'HELLO there',
    'full width': 'ｈｅｌｌｏ ｔｈｅｒｅ',
    'mathematical bold': '𝐡𝐞𝐥𝐥𝐨 𝐭𝐡𝐞𝐫𝐞',
    'mathematical script': '𝓱𝓮𝓵𝓵𝓸 𝓽𝓱𝓮𝓻𝓮',
    circled: 'ⓗⓔⓛⓛⓞ ⓣⓗⓔⓡⓔ',
    'letters in squares': '🅷🅴🅻🅻🅾 🆃🅷🅴🆁🅴',
    'Cyrillic lookalikes': 'hеllо thеrе',
    'Greek lookalikes': 'hellο τhere',
    'small capitals': 'ʜᴇʟʟᴏ ᴛʜᴇʀᴇ',
    'zero-width characters': 'h\u200be\u200cl\u200dl\u2060o the\ufeffre',
    'soft hyphens': 'hel\u00adlo the\u00adre',
    'bidirectional marks': '\u202ehello\u202c the\u200fre',
    'tag characters': 'hello\u{e0041} there',
    'variation selectors': 'hello\ufe0f there\u{e0100}',
    'combining strike': 'h\u0336e\u0336l\u0336l\u0336o\u0336 there',
    accents: 'héllö thërê',
    ligatures: 'hello there',
  };
  for (const [name, text] of Object.entries(spelt)) t.equal(normalise(text), 'hello there', name);
  t.equal(normalise('ﬁne “words” — don’t…'), 'fine "words" - don\'t...');
});

t.test('what has no reading in ASCII stays what it is', async (t) => {
  t.equal(normalise('漢字'), '漢字');
  t.equal(normalise('🙂'), ' ', 'a picture separates words');
  t.equal(normalise('tab\tline\nend'), 'tab\tline\nend');
  t.equal(normalise(''), '');
});

t.test('reading twice changes nothing, whatever the text', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const once = normalise(text);
      t.equal(normalise(once), once);
    }),
    { numRuns: 300 },
  );
  for (let point = 0; point < 0x3000; point++) {
    const once = normalise(String.fromCodePoint(point));
    if (normalise(once) !== once) t.fail(`U+${point.toString(16)}`);
  }
});

t.test('halves of surrogate pairs and very long texts are no trouble', async (t) => {
  t.equal(normalise('a\ud800b'), 'a b');
  t.equal(normalise('\udc00'), ' ');
  t.equal(normalise('Ab'.repeat(50_000)), 'ab'.repeat(50_000));
});

t.test('every lookalike stands for one printable ASCII character', async (t) => {
  t.same(
    [...confusables].filter(([character, twin]) => !/^[ -~]$/.test(twin) || character <= '\u007f'),
    [],
  );
});
