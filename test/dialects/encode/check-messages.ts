import type { Json } from '../../../src/dialects/dialect.js';
import { hearNothing, must, type Heard, type ReadFrame } from './frames.js';

const DELTA_TYPES: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};

/** The ordering rules of a Messages stream. Throws the rule that is broken; gives back what was said. */
export const checkMessages = (frames: readonly ReadFrame[]): Heard => {
  const heard = hearNothing();
  let block = null as { readonly type: string; signed: boolean } | null;
  let index = -1;
  let state: 'before' | 'open' | 'ended' | 'stopped' | 'failed' = 'before';

  const readDelta = (delta: Json): void => {
    must(block !== null, 'a delta stands inside its block');
    must(DELTA_TYPES[block.type]!.includes(String(delta.type)), 'a delta fits its block');
    must(!block.signed, 'nothing follows the signature of a block');
    if (delta.type === 'text_delta') heard.text += String(delta.text);
    if (delta.type === 'thinking_delta') heard.reasoning += String(delta.thinking);
    if (delta.type === 'input_json_delta') heard.calls.at(-1)!.input += String(delta.partial_json);
    if (delta.type === 'signature_delta') {
      block.signed = true;
      heard.signatures.push(String(delta.signature));
    }
  };

  const openBlock = (data: Json): void => {
    must(block === null, 'one block is open at a time');
    must(data.index === index + 1, 'indexes count up from 0 without gaps');
    index++;
    const content = data.content_block as Json;
    must(Object.hasOwn(DELTA_TYPES, String(content.type)), 'a block has a known type');
    block = { type: String(content.type), signed: false };
    if (content.type === 'text') must(content.text === '', 'text begins empty');
    if (content.type === 'tool_use') {
      must(/^[A-Za-z0-9_-]+$/.test(String(content.id)), 'a call has a plain id');
      must(JSON.stringify(content.input) === '{}', 'input begins as an empty object');
      heard.calls.push({ id: String(content.id), name: String(content.name), input: '' });
    }
  };

  for (const { event, data } of frames) {
    must(event === data.type, 'every event is named after its type');
    must(state !== 'stopped' && state !== 'failed', 'nothing follows the end');
    switch (data.type) {
      case 'message_start': {
        must(state === 'before', 'message_start comes once, first');
        const message = data.message as Json;
        must(String(message.id).startsWith('msg_'), 'a message id begins with msg_');
        must(typeof (message.usage as Json).input_tokens === 'number', 'message_start has its usage');
        must(typeof (message.usage as Json).output_tokens === 'number', 'message_start has its usage');
        must(message.stop_reason === null && message.role === 'assistant', 'a message begins open');
        state = 'open';
        break;
      }
      case 'content_block_start':
        must(state === 'open', 'blocks stand between start and message_delta');
        openBlock(data);
        break;
      case 'content_block_delta':
        must(data.index === index, 'a delta names the open block');
        readDelta(data.delta as Json);
        break;
      case 'content_block_stop':
        must(block !== null && data.index === index, 'a stop closes the open block');
        must(block.type !== 'thinking' || block.signed, 'thinking is signed before its stop');
        block = null;
        break;
      case 'message_delta': {
        must(state === 'open' && block === null, 'message_delta comes once, after every block');
        const delta = data.delta as Json;
        must(typeof delta.stop_reason === 'string', 'the stop reason is never null');
        must(typeof (data.usage as Json).output_tokens === 'number', 'message_delta has its usage');
        heard.finish = delta.stop_reason;
        heard.usage = data.usage as Json;
        state = 'ended';
        break;
      }
      case 'message_stop':
        must(state === 'ended', 'message_stop follows message_delta');
        state = 'stopped';
        break;
      case 'error':
        heard.error = data.error as Json;
        must(typeof heard.error.type === 'string', 'an error has a type');
        must(typeof heard.error.message === 'string', 'an error has a message');
        state = 'failed';
        break;
      default:
        throw new Error(`no such event: ${String(data.type)}`);
    }
  }
  must(state === 'stopped' || state === 'failed', 'a stream ends with message_stop or an error');
  return heard;
};
