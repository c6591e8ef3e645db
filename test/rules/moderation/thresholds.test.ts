import t from 'tap';
import { categories } from '../../../src/core/review.js';
import { readsAsEnglish } from '../../../src/rules/moderation/language.js';
import { thresholds } from '../../../src/rules/moderation/thresholds.js';

t.test('illicit alone acts only when it is nearly sure, unless it is named', async (t) => {
  const plain = thresholds({});
  t.same(
    categories.filter((category) => plain(category) !== 0.5),
    ['illicit', 'illicit/violent'],
  );
  t.equal(plain('illicit'), 0.9);
  const named = thresholds({ illicit: 0.5, hate: 0.2, sexual: 7 });
  t.equal(named('illicit'), 0.5);
  t.equal(named('hate'), 0.2);
  t.equal(named('sexual'), 1, 'no threshold is beyond reach');
  t.equal(thresholds({ constructor: 0 })('hate'), 0.5);
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
