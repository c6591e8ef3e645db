import type { Json } from '../../../src/dialects/dialect.js';
import { hearNothing, must, type Heard, type ReadFrame } from './frames.js';

interface OpenItem {
  readonly id: unknown;
  readonly type: unknown;
  readonly callId: unknown;
  part: string | null;
  /** Set by the `.done` of the text. */
  whole: string | null;
  text: string;
}

const TEXT_EVENTS: Readonly<Record<string, { readonly part: string | null; readonly key: string }>> = {
  'response.output_text': { part: 'output_text', key: 'text' },
  'response.refusal': { part: 'refusal', key: 'refusal' },
  'response.reasoning_summary_text': { part: 'summary_text', key: 'text' },
  'response.function_call_arguments': { part: null, key: 'arguments' },
};

/** The rules of a Responses stream, as the strictest client checks them. Throws the rule that is broken; gives back what was said. */
export const checkResponses = (frames: readonly ReadFrame[]): Heard => {
  const heard = hearNothing();
  const done: Json[] = [];
  const ids = new Set<unknown>();
  let id: unknown = null;
  let item: OpenItem | null = null;
  let state: 'before' | 'created' | 'open' | 'over' = 'before';

  const opened = (data: Json): OpenItem => {
    must(item !== null, 'an item is open');
    must(data.output_index === done.length, 'output_index counts up from 0');
    must(data.item_id === undefined || data.item_id === item.id, 'events name the id of their item');
    return item;
  };

  const readText = (type: string, data: Json): void => {
    const at = type.lastIndexOf('.');
    const shape = TEXT_EVENTS[type.slice(0, at)];
    must(shape !== undefined, `a known event: ${type}`);
    const open = opened(data);
    must(open.part === shape.part, 'text stands inside its part');
    must(open.whole === null, 'text ends once');
    if (type.startsWith('response.output_text')) must(Array.isArray(data.logprobs), 'logprobs are there');
    if (type.endsWith('.delta')) {
      must(typeof data.delta === 'string', 'a delta is text');
      open.text += data.delta;
    } else {
      must(data[shape.key] === open.text, 'the whole text is the sum of its deltas');
      open.whole = open.text;
    }
  };

  const readPart = (type: string, data: Json): void => {
    const open = opened(data);
    const part = data.part as Json;
    const key = part.type === 'refusal' ? 'refusal' : 'text';
    if (part.type === 'output_text') must(Array.isArray(part.annotations), 'annotations are there');
    must((data.content_index ?? data.summary_index) === 0, 'an item has one part');
    if (type.endsWith('.added')) {
      must(open.part === null && part[key] === '', 'a part begins once, empty');
      open.part = String(part.type);
    } else {
      must(open.part === part.type && open.whole !== null, 'a part ends after its text');
      must(part[key] === open.whole, 'a part ends with its whole text');
    }
  };

  const addItem = (data: Json): void => {
    must(state === 'open' && item === null, 'one item is open at a time');
    must(data.output_index === done.length, 'output_index counts up from 0');
    const added = data.item as Json;
    for (const one of [added.id, added.call_id]) {
      must(one === undefined || (one !== '' && !ids.has(one)), 'ids are given and used once');
      if (one !== undefined) ids.add(one);
    }
    item = { id: added.id, type: added.type, callId: added.call_id, part: null, whole: null, text: '' };
  };

  const finishItem = (data: Json): void => {
    const open = opened(data);
    const whole = data.item as Json;
    must(whole.id === open.id && whole.type === open.type, 'an item keeps its id and type');
    must(whole.call_id === open.callId, 'an item keeps its call id');
    if (typeof whole.encrypted_content === 'string') heard.signatures.push(whole.encrypted_content);
    if (whole.type === 'reasoning' && open.part === null) {
      must(JSON.stringify(whole.summary) === '[]', 'reasoning without text has no summary');
      must(typeof whole.encrypted_content === 'string', 'an item is not empty');
      done.push(whole);
      item = null;
      return;
    }
    must(open.whole !== null && open.whole !== '', 'an item is not empty');
    const [part] = (whole.content ?? whole.summary ?? []) as Json[];
    const text = whole.type === 'function_call' ? whole.arguments : (part?.text ?? part?.refusal);
    must(text === open.whole, 'an item ends with its whole text');
    if (whole.type === 'function_call')
      heard.calls.push({ id: String(whole.call_id), name: String(whole.name), input: open.whole });
    else if (whole.type === 'reasoning') heard.reasoning += open.whole;
    else if (open.part === 'refusal') heard.refusal += open.whole;
    else heard.text += open.whole;
    done.push(whole);
    item = null;
  };

  const readResponse = (type: string, response: Json): void => {
    must(typeof response.created_at === 'number', 'created_at is everywhere');
    must(id === null || id === response.id, 'the response keeps its id');
    ({ id } = response);
    must(String(id).startsWith('resp_'), 'a response id begins with resp_');
    if (type === 'response.created' || type === 'response.in_progress') {
      must(state === (type === 'response.created' ? 'before' : 'created'), 'created, then in_progress');
      must(response.status === 'in_progress', 'a response begins in progress');
      state = type === 'response.created' ? 'created' : 'open';
      return;
    }
    must(state === 'open' && item === null, 'the response ends after its items');
    must(type === `response.${String(response.status)}`, 'the last event is named after the status');
    must(
      JSON.stringify(response.output) === JSON.stringify(done),
      'the last snapshot holds the items as sent',
    );
    const reason = (response.incomplete_details as Json | null)?.reason;
    heard.finish = typeof reason === 'string' ? reason : String(response.status);
    heard.usage = response.usage as Json;
    state = 'over';
  };

  for (const [at, { event, data }] of frames.entries()) {
    const type = String(data.type);
    must(event === type, 'every event is named after its type');
    must(data.sequence_number === at, 'sequence numbers count up from 0');
    must(state !== 'over', 'nothing follows the end');
    if (data.response !== undefined) readResponse(type, data.response as Json);
    else if (type === 'response.output_item.added') addItem(data);
    else if (type === 'response.output_item.done') finishItem(data);
    else if (type.includes('_part.')) readPart(type, data);
    else if (type === 'error') {
      heard.error = data;
      must(
        typeof data.message === 'string' && typeof data.code === 'string',
        'an error has code and message',
      );
      state = 'over';
    } else readText(type, data);
  }
  must(state === 'over', 'a stream ends with its last snapshot or an error');
  return heard;
};
