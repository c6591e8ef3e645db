import t from 'tap';
import { cutInto } from '../../golden/replay.js';
import { replayTranslated } from '../../golden/translated.js';
import { checkStream } from '../encode/check.js';
import { faults } from './faults.js';
import { formats, outline, readStream } from './read-stream.js';
import { stream } from './wire.js';

/** What was said before an error came is not in the outline of a stream that failed within a block. */
for (const { format, says, frames, answer } of faults) {
  t.test(`4.10 an upstream of ${format} that sends ${says}`, async (t) => {
    const bytes = stream(format, frames);
    const { events, complete } = readStream(format, [bytes]);
    const failed = events.some(({ type }) => type === 'error');
    t.equal(complete ? outline(events) : failed ? outline(events) : '', answer);
    t.same(readStream(format, cutInto(bytes, [1])).events, events, 'byte by byte');

    for (const to of formats.filter((other) => other !== format)) {
      const seen = await replayTranslated(format, to, [bytes]);
      const heard = checkStream(to, seen.output.toString());
      t.equal(heard.error === null, complete, `${to}: an error and an ending are not mixed up`);
      t.match(seen, { done: true, settled: complete ? 1 : 0, truncated: complete ? 0 : 1 });
    }
  });
}

t.test('4.10 an answer without usage is counted by its deltas and the estimate of its input', async (t) => {
  const frames = faults.find(({ says }) => says === 'no usage anywhere')!.frames;
  const seen = await replayTranslated('messages', 'chat', [stream('messages', frames)], {
    estimatedInputTokens: 40,
  });
  t.match(seen.usage, { input: 40, output: 1 });
  t.match(checkStream('chat', seen.output.toString()).usage, { prompt_tokens: 40, completion_tokens: 1 });
});

t.test('4.10 a comment on the way to an answer stays apart from it in every format', async (t) => {
  const frames = faults.find(({ says }) => says === 'a comment before the answer')!.frames;
  const bytes = stream('responses', frames);
  const chat = checkStream('chat', (await replayTranslated('responses', 'chat', [bytes])).output.toString());
  t.match(chat, { text: 'Hi', reasoning: 'Wait.' });
  const { output } = await replayTranslated('responses', 'messages', [bytes]);
  t.match(output.toString(), /"index":0,"delta":\{"type":"text_delta","text":"Wait\."/);
  t.match(output.toString(), /"index":1,"delta":\{"type":"text_delta","text":"Hi"/);
});
