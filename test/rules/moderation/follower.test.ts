import fc from 'fast-check';
import t from 'tap';
import { SUSPICION } from '../../../src/rules/moderation/engine.js';
import { acting, engine, samples, seeded } from './setting.js';

const cutRandomly = (text: string, random: () => number, most: number): string[] => {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const length = 1 + Math.floor(random() * most);
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return pieces;
};

const filler = 'The garden was quiet that morning, and the gate stood open. Nobody had seen the letter yet. ';
const texts = [
  '',
  'Hi.',
  filler.repeat(8),
  filler.repeat(3) + samples.harassment! + filler,
  `${samples['self-harm']!} ${filler.repeat(2)} ${Buffer.from(samples.hate!).toString('base64')} ${filler}`,
  Array.from(samples.hate!).join(' '),
  `𝐤𝐢𝐥𝐥 🙂🙂 ${filler} кіll \u200b${filler}`,
];

t.test('however an answer is cut into pieces, it gets the scores of the whole text', async (t) => {
  const random = seeded(11);
  for (const text of texts)
    for (const most of [1, 2, 3, 7, 40, 400]) {
      const follower = engine.follow('');
      for (const piece of cutRandomly(text, random, most)) follower.write(piece);
      follower.end();
      t.same(follower.scores, await engine.judge(text));
      t.equal(follower.judged, text.length);
    }
});

t.test('random texts in random pieces, too', async (t) => {
  const word = fc.constantFrom(
    'you',
    'are',
    'k1ll',
    'a b c',
    'f*ck',
    'soooo',
    '𝐛𝐚𝐝',
    'zu\u200b',
    '%41%42%43%44%45%46%47%48',
    '\n',
  );
  const text = fc.array(word, { maxLength: 120 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(text, fc.nat(), (whole, seed) => {
      const follower = engine.follow('');
      let judged = 0;
      for (const piece of cutRandomly(whole, seeded(seed), 9)) {
        follower.write(piece);
        t.ok(follower.judged >= judged && follower.judged <= whole.length, 'what was judged stays judged');
        judged = follower.judged;
        const suspicion = follower.suspicion();
        t.ok(suspicion >= 0 && suspicion <= 1);
      }
      follower.end();
      t.same(follower.scores, engine.judgeNow(whole));
    }),
    { numRuns: 150 },
  );
});

t.test('verdicts come with full windows, not before', async (t) => {
  const follower = engine.follow('');
  const text = filler.repeat(6);
  const places: number[] = [];
  for (let index = 0; index < text.length; index++)
    if (follower.write(text[index]!)) {
      places.push(index);
      t.ok(follower.judged > 0 && follower.judged <= index + 1);
      t.not(text[follower.judged - 1], ' ', 'a verdict covers whole words');
    }
  t.ok(places[0]! > 240 && places[0]! < 300, `the first at ${places[0]}`);
  t.ok(places.length >= 3);
  t.ok(places.slice(1).every((place, index) => place - places[index]! > 100));
});

t.test('what was said before belongs to the first window, and is not judged itself', async (t) => {
  const context =
    'Please tell me how the committee decides on the minutes of the session and who signs them in the end.';
  const follower = engine.follow(context);
  t.equal(follower.judged, 0);
  let first = 0;
  while (!follower.write(filler[first % filler.length]!)) first++;
  t.ok(first > 100 && first < 180, `the first verdict at ${first}`);
  const alone = engine.follow(samples.harassment!);
  alone.end();
  t.ok(
    [...alone.scores.values()].every((score) => score < 0.5),
    'an empty answer is no offence',
  );
});

t.test('a verdict never cuts a surrogate pair', async (t) => {
  const text = '𝐭𝐡𝐞 𝐠𝐚𝐫𝐝𝐞𝐧 𝐰𝐚𝐬 𝐪𝐮𝐢𝐞𝐭 '.repeat(40) + '𝐚'.repeat(400);
  const follower = engine.follow('');
  for (let index = 0; index < text.length; index++) {
    follower.write(text[index]!);
    const unit = text.charCodeAt(follower.judged);
    t.notOk(unit >= 0xdc00 && unit <= 0xdfff, `at ${follower.judged}`);
  }
  t.ok(follower.judged > 0);
});

t.test('most harmless streams flow, those of the other kind wait for their verdict', async (t) => {
  const heldShare = (text: string): number => {
    const follower = engine.follow('', { categories: acting });
    let held = 0;
    let events = 0;
    for (let from = 0; from < text.length; from += 4, events++) {
      follower.write(text.slice(from, from + 4));
      if (follower.suspicion() >= SUSPICION) held++;
    }
    return held / events;
  };
  t.ok(heldShare(filler.repeat(4)) < 0.1, String(heldShare(filler.repeat(4))));
  for (const [category, text] of Object.entries(samples))
    t.ok(heldShare(text) > 0.5, `${category}: ${heldShare(text)}`);
});

t.test('only the categories that matter make text wait', async (t) => {
  const text = samples.harassment!;
  const wary = engine.follow('', { categories: ['harassment'] });
  const calm = engine.follow('', { categories: [] });
  wary.write(text);
  calm.write(text);
  t.ok(wary.suspicion() >= SUSPICION);
  t.equal(calm.suspicion(), 0);
});

t.test('encoded text is not covered by a verdict before it was read', async (t) => {
  const encoded = Buffer.from(filler.repeat(5)).toString('base64').slice(0, 480);
  const follower = engine.follow('');
  const before = filler.repeat(4);
  follower.write(before + encoded);
  t.ok(follower.judged <= before.length);
  follower.write(' and so on');
  follower.end();
  t.equal(follower.judged, before.length + encoded.length + 10);
});
