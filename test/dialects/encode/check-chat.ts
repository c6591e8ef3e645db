import type { Json } from '../../../src/dialects/dialect.js';
import { hearNothing, must, type Heard, type ReadFrame } from './frames.js';

/** The rules of a Chat Completions stream. Throws the rule that is broken; gives back what was said. */
export const checkChat = (frames: readonly ReadFrame[], includeUsage: boolean): Heard => {
  const heard = hearNothing();
  let head: string | null = null;
  let ended = false;

  const readCall = (call: Json): void => {
    must(Number.isInteger(call.index), 'a call has its index');
    const { name, arguments: input } = call.function as Json;
    must(typeof input === 'string', 'arguments are text');
    if (call.index === heard.calls.length) {
      must(typeof call.id === 'string' && call.id !== '', 'a new call has its id');
      must(call.type === 'function' && typeof name === 'string', 'a new call has its type and name');
      heard.calls.push({ id: call.id, name, input });
      return;
    }
    must(call.index === heard.calls.length - 1, 'calls count up from 0, one after the other');
    heard.calls.at(-1)!.input += input;
  };

  const readDelta = (delta: Json): void => {
    if (typeof delta.content === 'string') heard.text += delta.content;
    if (typeof delta.refusal === 'string') heard.refusal += delta.refusal;
    if (typeof delta.reasoning_content === 'string') heard.reasoning += delta.reasoning_content;
    if (Array.isArray(delta.tool_calls)) delta.tool_calls.forEach(readCall);
  };

  for (const [at, { event, raw, data }] of frames.entries()) {
    must(event === null, 'chunks have no name');
    must(!ended, 'nothing follows the end');
    if (raw === '[DONE]') {
      must(heard.finish !== null, 'a finish reason comes before [DONE]');
      must(includeUsage === (heard.usage !== null), 'usage comes when asked for, and only then');
      ended = true;
      continue;
    }
    if (data.error !== undefined) {
      must(data.choices === undefined, 'an error stands alone');
      heard.error = data.error as Json;
      must(typeof heard.error.message === 'string', 'an error is an object with a message');
      ended = true;
      continue;
    }
    must(data.object === 'chat.completion.chunk', 'a chunk says what it is');
    const own = JSON.stringify([data.id, data.created, data.model]);
    must(head === null || head === own, 'id, created and model stay the same');
    head = own;
    must(String(data.id).startsWith('chatcmpl-'), 'a chunk id begins with chatcmpl-');
    must(Array.isArray(data.choices), 'every chunk has choices');
    must(heard.usage === null, 'nothing but [DONE] follows the usage');
    if (data.choices.length === 0) {
      must(heard.finish !== null, 'usage follows the finish reason');
      heard.usage = data.usage as Json;
      continue;
    }
    const choice = data.choices[0] as Json;
    must(choice.index === 0 && data.choices.length === 1, 'there is one choice');
    must(heard.finish === null, 'no delta follows the finish reason');
    must(((choice.delta as Json).role === 'assistant') === (at === 0), 'the role comes with the first delta');
    readDelta(choice.delta as Json);
    heard.finish = choice.finish_reason as string | null;
  }
  must(ended, 'a stream ends with [DONE] or an error');
  return heard;
};
