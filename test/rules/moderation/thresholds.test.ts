import t from 'tap';
import { categories } from '../../../src/core/review.js';
import { readsAsEnglish } from '../../../src/rules/moderation/language.js';
import { askedThresholds, unaskedThresholds } from '../../../src/rules/moderation/thresholds.js';

const embedded = { engine: 'embedded', thresholds: {} };

t.test('D18 every category that is named counts from the same score on, illicit included', async (t) => {
  t.same([...new Set(categories.map(askedThresholds(embedded)))], [0.5]);
  const tuned = askedThresholds({
    ...embedded,
    thresholds: { hate: 0.2, 'hate/threatening': 0.7, sexual: 0.3 },
  });
  t.equal(tuned('hate'), 0.2);
  t.equal(tuned('hate/threatening'), 0.7);
  t.equal(tuned('sexual/explicit'), 0.3, 'a category below takes what is said of the one above');
  t.equal(askedThresholds({ ...embedded, thresholds: {} })('constructor'), 0.5);
});

t.test('seed 1: what is always blocked can be tuned, not switched off', async (t) => {
  const tuned = { 'self-harm': 1, 'sexual/minors': 0.95, hate: 1 };
  for (const engine of ['embedded', 'off']) {
    const threshold = askedThresholds({ engine, thresholds: tuned });
    t.equal(threshold('self-harm/intent'), 0.9);
    t.equal(threshold('sexual/minors'), 0.9);
    t.equal(threshold('hate'), engine === 'off' ? Infinity : 1);
  }
});

t.test('illicit alone counts only when it is nearly sure, unless it is named', async (t) => {
  const unasked = unaskedThresholds(embedded);
  t.same(
    categories.filter((category) => unasked(category) !== 0.5),
    ['illicit', 'illicit/violent'],
  );
  t.equal(unasked('illicit'), 0.9);
  t.equal(unaskedThresholds({ ...embedded, thresholds: { illicit: 0.5 } })('illicit/violent'), 0.5);
  t.equal(unaskedThresholds({ engine: 'off', thresholds: {} })('illicit'), Infinity);
});

t.test('a language the engine cannot read is named as such', async (t) => {
  const long = (sentence: string): string => `${sentence} `.repeat(Math.ceil(400 / sentence.length));
  const read = {
    English: long('The committee will meet on Monday, and you can read the minutes that they have sent.'),
    'short English': 'kill a Python process',
    code: long(
      'const value = this.items.map((item) => item.size); if (value) return false; else throw new Error();',
    ),
    nothing: '',
    numbers: '1 2 3 4 5'.repeat(100),
  };
  const unread = {
    Russian: 'Комитет встретится в понедельник.',
    Chinese: '委员会将于星期一开会。',
    Arabic: 'ستجتمع اللجنة يوم الاثنين',
    Spanish: long(
      'El comité se reunirá el lunes y podréis leer las actas que nos han enviado desde la oficina.',
    ),
    German: long('Der Ausschuss trifft sich am Montag, und man wird dort die neuen Berichte vorlesen.'),
    French: long('Le comité se réunira lundi prochain et chacun pourra lire les comptes rendus envoyés.'),
    'rotated letters': long(
      'Gur pbzzvggrr jvyy zrrg ba Zbaqnl, naq lbh pna ernq gur zvahgrf gung gurl unir frag.',
    ),
  };
  for (const [name, text] of Object.entries(read)) t.equal(readsAsEnglish(text), true, name);
  for (const [name, text] of Object.entries(unread)) t.equal(readsAsEnglish(text), false, name);
});
