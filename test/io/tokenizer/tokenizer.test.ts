import fc from 'fast-check';
import t from 'tap';
import { silentLog } from '../../../src/core/log.js';
import { cutText } from '../../../src/io/tokenizer/cut.js';
import { createTokenizer, type TokenizerOptions } from '../../../src/io/tokenizer/tokenizer.js';
import { until } from '../../support/gateway.js';

interface Ending {
  teardown(end: () => Promise<void>): unknown;
}

const open = (t: Ending, more: Partial<TokenizerOptions> = {}) => {
  const tokenizer = createTokenizer({ log: silentLog, deadlineMs: 60_000, ...more });
  t.teardown(() => tokenizer.close());
  return tokenizer;
};

/** A thread that does what its script says. */
const thread = (script: string): URL => new URL(`data:text/javascript,${encodeURIComponent(script)}`);
const onMessage = (script: string): URL =>
  thread(`import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ texts, vocabulary }) => { ${script} });`);

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/[\t-\r ]+|[^\t-\r ]+/g) ?? []).map((run) => run.length));

t.test('4.12 cut pieces join to the text, and no run in them comes near 1 kB', async () => {
  const runs = fc.oneof(
    fc
      .tuple(fc.constantFrom('a', ' ', '的', '!', '😀', '\n', 'ab'), fc.nat(900))
      .map(([unit, count]) => unit.repeat(count)),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(runs, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const pieces = [...cutText(text)];
      return (
        pieces.join('') === text &&
        pieces.every((piece) => piece !== '' && longestRun(piece) <= 129) &&
        pieces.every((piece) => Buffer.byteLength(piece.match(/\S+/g)?.[0] ?? '') <= 400)
      );
    }),
  );
});

t.test('4.12 plain text is cut before a space only, and no letter is cut in two', async (t) => {
  const prose = 'The quick brown fox. '.repeat(2_000);
  const pieces = [...cutText(prose)];
  t.ok(pieces.length > 3);
  t.ok(pieces.slice(1).every((piece) => piece.startsWith(' ')));
  t.ok([...cutText('😀'.repeat(1_000))].every((piece) => Buffer.from(piece).toString() === piece));
  t.same([...cutText('')], []);
});

t.test('4.12 texts are counted with the vocabulary asked for, whatever they look like', async (t) => {
  const { count } = open(t);
  t.equal(await count(['hello world', '', 'hello world'], 'o200k_base'), 4);
  t.equal(await count(['<|endoftext|>'], 'o200k_base'), 7, 'as text, not as a control token');
  const thai = 'สวัสดีชาวโลก';
  const [newer, older] = [await count([thai], 'o200k_base'), await count([thai], 'cl100k_base')];
  t.ok(newer! < older!, `${newer} ${older}`);
  t.equal(await count([], 'o200k_base'), 0);
});

t.test('4.12 50 kB of one character are counted to the end, as are 50 kB without a space', async (t) => {
  const { count } = open(t);
  t.equal(await count(['a'.repeat(50_000)], 'o200k_base'), 6_250);
  t.ok((await count(['的'.repeat(50_000)], 'o200k_base'))! >= 25_000);
  t.ok((await count([' '.repeat(50_000)], 'o200k_base'))! > 300);
});

t.test('4.12 beyond its time a count takes the rest to be alike', async (t) => {
  const prose = 'one two three four '.repeat(5_000);
  const [whole, hurried] = [open(t), open(t, { budgetMs: 0 })];
  const exact = (await whole.count([prose], 'o200k_base'))!;
  const guess = (await hurried.count([prose], 'o200k_base'))!;
  t.ok(Math.abs(guess - exact) / exact < 0.01, `${guess} ${exact}`);
});

t.test('4.12 of a giant text a part is counted', async (t) => {
  const told = await open(t, {
    module: onMessage('parentPort.postMessage({ tokens: texts.join("").length })'),
  }).count(['x'.repeat(3 * 1024 * 1024), 'y'.repeat(1024 * 1024)], 'o200k_base');
  t.equal(told, 4 * 1024 * 1024, 'half of it was handed over, and counted double');
});

t.test('4.12 a thread that dies costs its count only: the next one has a new thread', async (t) => {
  const { count } = open(t, {
    module: onMessage('if (texts[0] === "die") process.exit(3); parentPort.postMessage({ tokens: 5 });'),
  });
  const [lost, waited] = await Promise.all([count(['die'], 'o200k_base'), count(['go'], 'o200k_base')]);
  t.equal(lost, null);
  t.equal(waited, 5);
  t.equal(await open(t, { module: thread('throw new Error("broken")') }).count(['x'], 'o200k_base'), null);
  t.equal(
    await open(t, { module: onMessage('parentPort.postMessage({ fault: "no vocabulary" })') }).count(
      [],
      'o200k_base',
    ),
    null,
  );
});

t.test('4.12 a thread that hangs is replaced', async (t) => {
  const { count } = open(t, {
    module: onMessage('while (texts[0] === "hang"); parentPort.postMessage({ tokens: 5 });'),
    hangMs: 1_000,
  });
  t.equal(await count(['hang'], 'o200k_base'), null);
  // On a machine so busy that a thread does not start within a second, the next one may.
  await until(async () => (await count(['go'], 'o200k_base')) === 5, 'a count in a new thread');
});

t.test('4.12 nobody waits beyond the deadline, and the queue is bounded', async (t) => {
  const silent = open(t, { module: onMessage(''), deadlineMs: 200, maxWaiting: 1 });
  const counts = await Promise.all(
    ['under way', 'waits', 'too many'].map((text) => silent.count([text], 'o200k_base')),
  );
  t.same(counts, [null, null, null]);
  const { count } = open(t, { module: onMessage(''), maxWaiting: 0 });
  t.equal(await count(['x'], 'o200k_base'), null, 'at once');
});

t.test('4.12 closing answers whoever waits, and later counts at once', async (t) => {
  const tokenizer = open(t, { module: onMessage('') });
  const waiting = [tokenizer.count(['x'], 'o200k_base'), tokenizer.count(['y'], 'o200k_base')];
  await tokenizer.close();
  t.same(await Promise.all(waiting), [null, null]);
  t.equal(await tokenizer.count(['z'], 'o200k_base'), null);
});
