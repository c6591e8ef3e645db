import { createRedactor } from '../src/text/redact.js';
import { compileTerms, compileTermsSlowly, type Terms } from '../src/text/terms.js';
import { cpuUs, median } from './support/measures.js';

const KIB = 100;
const ROUNDS = 9;
const DELTA = 4;

/** CPU per KB of text. */
const perKb = (kib: number, act: () => void): number => {
  act();
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = cpuUs();
    act();
    return (cpuUs() - before) / kib;
  });
  return median(rounds);
};

let seed = 2_031;
const below = (bound: number): number => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % bound;
};

const letters = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(97 + below(26))).join('');
const vocabulary = Array.from({ length: 20_000 }, () => letters(2 + below(9)));
const word = (): string => vocabulary[below(vocabulary.length)]!;

/** Sentences of a made-up language, with a number or a date here and there. */
const sentence = (): string => {
  const words = Array.from({ length: 6 + below(12) }, () =>
    below(30) === 0 ? String(below(3_000)) : word(),
  );
  return `${words.join(' ')}${below(3) === 0 ? ',' : '.'} `;
};

const makeText = (): string => {
  const sentences: string[] = [];
  for (let length = 0; length < KIB * 1_024; length += sentences.at(-1)!.length) sentences.push(sentence());
  // One flat string, as from a parsed body.
  return Buffer.from(sentences.join('').slice(0, KIB * 1_024)).toString('latin1');
};

const inDeltas = (text: string): string[] =>
  Array.from({ length: text.length / DELTA }, (_, n) => text.slice(n * DELTA, (n + 1) * DELTA));

const show = (name: string, us: number, baseline: number): void =>
  console.log(
    `${name}: ${us.toFixed(1)} us per KB (${(us / baseline).toFixed(1)} x reading every character)`,
  );

const measureTerms = (
  name: string,
  terms: Terms,
  text: string,
  deltas: readonly string[],
  baseline: number,
): void => {
  show(
    `${name}, whole`,
    perKb(KIB, () => terms.find(text)),
    baseline,
  );
  const stream = perKb(KIB, () => {
    const follower = terms.follow();
    for (const delta of deltas) follower.write(delta);
    follower.end();
  });
  show(`${name}, in deltas of ${DELTA}`, stream, baseline);
};

/** The most CPU that one turn of the loop took while something was being done: neighbours do not count. */
const longestTurnMs = async (act: () => Promise<unknown>): Promise<number> => {
  let longest = 0;
  let last = cpuUs();
  let done = false;
  const look = (): void => {
    const now = cpuUs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!done) setImmediate(look);
  };
  setImmediate(look);
  await act();
  done = true;
  return longest / 1_000;
};

const measureCompiling = async (name: string, terms: readonly string[]): Promise<Terms> => {
  const before = cpuUs();
  let compiled = compileTerms([]);
  const turnMs = await longestTurnMs(async () => {
    compiled = await compileTermsSlowly(terms);
  });
  console.log(
    `compiling ${name}: ${((cpuUs() - before) / 1_000).toFixed(0)} ms of CPU, longest turn ${turnMs.toFixed(0)} ms, ` +
      `${(compiled.bytes / 2 ** 20).toFixed(1)} MiB`,
  );
  return compiled;
};

/** CPU of terms and redaction per KB of harmless text, whole and as a model sends it. */
export const run = async (): Promise<void> => {
  const text = makeText();
  const deltas = inDeltas(text);
  let sum = 0;
  const baseline = perKb(KIB, () => {
    for (let n = 0; n < text.length; n++) sum += text.charCodeAt(n);
  });
  console.log(`reading every character: ${baseline.toFixed(1)} us per KB${sum < 0 ? '!' : ''}`);

  for (const count of [1, 1_000, 100_000]) {
    const strange = Array.from({ length: count }, () => `${letters(5 + below(6))} ${letters(6)}`);
    const terms = await measureCompiling(`${count} terms`, strange);
    measureTerms(`${count} terms`, terms, text, deltas, baseline);
  }
  const near = Array.from({ length: 100_000 }, () => `${word()} ${letters(8)}`);
  const terms = await measureCompiling('100000 terms that begin with words of the text', near);
  measureTerms('those', terms, text, deltas, baseline);
  await measureCompiling(
    '100000 terms of 200 characters',
    Array.from({ length: 100_000 }, () => letters(200)),
  );

  show(
    'redaction, whole',
    perKb(KIB, () => createRedactor().redact(text)),
    baseline,
  );
  const stream = perKb(KIB, () => {
    const follower = createRedactor().follow();
    for (const delta of deltas) follower.write(delta);
    follower.end();
  });
  show(`redaction, in deltas of ${DELTA}`, stream, baseline);
};
