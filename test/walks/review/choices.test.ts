import t from 'tap';
import { openDesk } from '../../support/review.js';
import { houses, MAIL } from './rows.js';
import { cuts } from './recut.js';

const HEAD = { id: 'chatcmpl-two', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm' };
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

/** Two choices that take turns, piece by piece. */
const streamOf = (pieces: readonly (readonly string[])[]): string => {
  const chunks: object[] = [];
  const choice = (index: number, delta: object, finish_reason: string | null = null): void =>
    void chunks.push({ ...HEAD, choices: [{ index, delta, finish_reason }] });
  pieces.forEach((_, index) => choice(index, { role: 'assistant', content: '' }));
  for (let i = 0; pieces.some((each) => i < each.length); i++)
    pieces.forEach((each, index) => each[i] !== undefined && choice(index, { content: each[i] }));
  pieces.forEach((_, index) => choice(index, {}, 'stop'));
  chunks.push({ ...HEAD, choices: [], usage: USAGE });
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
};

const wholeOf = (texts: readonly string[]): string =>
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: texts.map((content, index) => ({
      index,
      message: { role: 'assistant', content, refusal: null },
      finish_reason: 'stop',
    })),
    usage: USAGE,
  });

const params = {
  model: 'on-chat',
  n: 2,
  messages: [{ role: 'user' as const, content: 'Tell me something about gardens.' }],
};

t.test('4.13 each of several choices is read by itself', async (t) => {
  const { talker, openai } = await openDesk(t, houses);
  const good = 'In the first garden there is nothing but forbidden lawn, and then the river.';
  const bad = 'In the second one there grows the forbidden fruit, and nobody may eat it, ever.';

  for (const [size, cut] of cuts) {
    await t.test(`D38 one bad choice of two ends the answer [deltas of ${size}]`, async (t) => {
      talker.says({ raw: streamOf([cut(good), cut(bad)]) });
      const { choices } = await openai('denying')
        .chat.completions.stream({ ...params, stream_options: { include_usage: true } })
        .finalChatCompletion();
      t.equal(choices.length, 2);
      for (const { message, finish_reason } of choices) {
        t.equal(finish_reason, 'content_filter');
        t.match(message.refusal, /Output blocked by content filtering policy/);
        t.notMatch(message.content, /forbidden fruit/);
      }
      t.ok(good.startsWith(choices[0]!.message.content ?? ''));
    });

    await t.test(`D19 data is masked in each choice by itself [deltas of ${size}]`, async (t) => {
      const texts = [`Ask ${MAIL} about it.`, `Or john.roe@example.org, or ${MAIL} again.`];
      talker.says({ raw: streamOf(texts.map(cut)) });
      const { choices } = await openai('redacting')
        .chat.completions.stream({ ...params, stream_options: { include_usage: true } })
        .finalChatCompletion();
      t.same(
        choices.map(({ message }) => message.content?.replace(/_[12]\]/g, '_N]')),
        ['Ask [EMAIL_N] about it.', 'Or [EMAIL_N], or [EMAIL_N] again.'],
      );
    });
  }

  await t.test('D38 a whole answer of two choices is refused for one', async (t) => {
    talker.says({ raw: wholeOf([good, bad]) });
    const { choices } = await openai('denying').chat.completions.create(params);
    t.match(choices[0], { finish_reason: 'content_filter', message: { refusal: /Output blocked/ } });
    t.notMatch(JSON.stringify(choices), /forbidden/);
  });

  await t.test('D19 a whole answer of two choices is masked in both', async (t) => {
    talker.says({ raw: wholeOf([`Ask ${MAIL}.`, `Ask ${MAIL}!`]) });
    const { choices } = await openai('redacting').chat.completions.create(params);
    t.same(
      choices.map(({ message }) => message.content),
      ['Ask [EMAIL_1].', 'Ask [EMAIL_1]!'],
    );
  });
});
