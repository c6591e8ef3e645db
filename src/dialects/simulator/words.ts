import type { Random } from './random.js';

const OPENERS = [
  'In the morning',
  'After the rain',
  'On most days',
  'By evening',
  'Now and then',
  'In spring',
];
const ADJECTIVES = [
  'quiet',
  'bright',
  'patient',
  'small',
  'old',
  'gentle',
  'careful',
  'curious',
  'steady',
  'wooden',
  'blue',
  'friendly',
  'simple',
  'warm',
  'early',
  'clear',
];
const DOERS = [
  'baker',
  'gardener',
  'river',
  'teacher',
  'lighthouse',
  'sailor',
  'painter',
  'clock',
  'neighbour',
  'engineer',
  'musician',
  'cat',
  'library',
  'train',
];
const DEEDS = [
  'follows',
  'remembers',
  'carries',
  'mends',
  'watches',
  'welcomes',
  'describes',
  'measures',
  'crosses',
  'opens',
  'keeps',
  'paints',
];
const THINGS = [
  'garden',
  'letter',
  'bridge',
  'harbour',
  'market',
  'map',
  'window',
  'story',
  'road',
  'orchard',
  'boat',
  'kettle',
  'lantern',
  'valley',
  'song',
];
const PLACES = ['beside', 'behind', 'above', 'across from', 'near', 'beyond'];
const MANNERS = ['slowly', 'with care', 'without hurry', 'every week', 'as promised', 'in good time'];

/** One plain sentence as words and marks. */
const composeSentence = (random: Random): string[] => {
  const phrases: string[] = [];
  if (random.below(3) === 0) phrases.push(random.pick(OPENERS), ',');
  phrases.push('the', random.pick(ADJECTIVES), random.pick(DOERS), random.pick(DEEDS), 'the');
  if (random.below(2) === 0) phrases.push(random.pick(ADJECTIVES));
  phrases.push(random.pick(THINGS));
  if (random.below(2) === 0) phrases.push(random.pick(PLACES), 'the', random.pick(THINGS));
  if (random.below(3) === 0) phrases.push(random.pick(MANNERS));
  const words = phrases.join(' ').split(' ');
  words[0] = words[0]!.charAt(0).toUpperCase() + words[0]!.slice(1);
  return [...words, '.'];
};

const SENTENCES_PER_PARAGRAPH = 5;

/** Plain English without end, one token at a time. */
function* ramble(random: Random): Generator<string, never> {
  for (let sentence = 0; ; sentence++) {
    let gap = sentence === 0 ? '' : sentence % SENTENCES_PER_PARAGRAPH === 0 ? '\n\n' : ' ';
    for (const word of composeSentence(random)) {
      yield word === '.' || word === ',' ? word : gap + word;
      gap = ' ';
    }
  }
}

/** Ends with the first sentence that reaches this many tokens. */
export function* talkAbout(random: Random, leastTokens: number): Generator<string> {
  let count = 0;
  for (const token of ramble(random)) {
    yield token;
    if (++count >= leastTokens && token === '.') return;
  }
}

const lastWord = (before: string): string => {
  if (before === '') return 'Yes.';
  if (before === '.') return ' Indeed.';
  return before === ',' ? ' indeed.' : '.';
};

/** Exactly this many tokens, the last one with a full stop. */
export function* talkFor(random: Random, tokens: number): Generator<string> {
  let before = '';
  const words = ramble(random);
  for (let count = 1; count < tokens; count++) {
    before = words.next().value;
    yield before;
  }
  if (tokens > 0) yield lastWord(before);
}

/** Cuts a given text into tokens that join to exactly that text: words of at most 12 letters, or single marks, with the space before them. */
export const splitTokens = (text: string): string[] =>
  text.match(/\s*[\p{L}\p{M}\p{N}]{1,12}|\s*\S|\s+/gu) ?? [];
