import type { InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { noUsage } from '../../core/usage.js';
import { frame } from '../../io/sse/encode.js';
import type { CreditFields, Json } from '../dialect.js';
import { errorOf, keepId, nameCalls, type EncodeOptions, type Encoder } from '../encoding.js';
import { itemFrames, type ItemFrames } from './item-frames.js';
import {
  echoRequest,
  ITEM_PREFIXES,
  renderItem,
  renderResponse,
  responsesEnding,
  type ItemStatus,
  type OutputItem,
  type ResponseHead,
} from './snapshot.js';

export interface ResponsesEncodeOptions extends EncodeOptions {
  /** The client's request, of which the format repeats some fields. */
  readonly request?: Json;
}

interface OpenItem {
  readonly item: OutputItem;
  /** Null until the item is announced. */
  frames: ItemFrames | null;
  readonly pieces: string[];
  signature: string;
}

export const encodeResponses = (options: ResponsesEncodeOptions = {}): Encoder => {
  const mint = options.newId ?? newId;
  const nowMs = options.nowMs ?? Date.now;
  const nameCall = nameCalls(() => mint('call'));
  const output: Json[] = [];
  let head: ResponseHead = { id: '', createdAtS: 0, model: '', echo: {} };
  let usage = noUsage;
  let sequence = 0;
  let open: OpenItem | null = null;
  let calledTools = false;
  let refused = false;
  let over = false;

  const nextSequence = (): number => sequence++;
  const numbered = (type: string, data: Json): string =>
    frame(type, { type, sequence_number: nextSequence(), ...data });

  const start = (event: InferenceEvent & { type: 'start' }): string => {
    usage = event.usage ?? noUsage;
    head = {
      id: keepId(event.id, 'resp_', () => mint('resp')),
      createdAtS: Math.floor(nowMs() / 1_000),
      model: event.model,
      echo: echoRequest(options.request ?? {}),
    };
    const response = renderResponse(head, null, [], null);
    return numbered('response.created', { response }) + numbered('response.in_progress', { response });
  };

  const announce = (opened: OpenItem): string => {
    const outputIndex = output.length;
    opened.frames = itemFrames(opened.item, outputIndex, nextSequence);
    const item = renderItem(opened.item, null, 'in_progress');
    return numbered('response.output_item.added', { output_index: outputIndex, item });
  };

  const write = (text: string): string => {
    if (!open || text === '') return '';
    let before = open.frames === null ? announce(open) : '';
    if (open.pieces.length === 0) {
      before += open.frames?.open(numbered) ?? '';
      refused ||= open.item.kind === 'refusal';
    }
    open.pieces.push(text);
    return before + (open.frames?.delta(text) ?? '');
  };

  /** Waits for what follows the block: only the finish tells whether its item is complete. */
  const close = (status: ItemStatus): string => {
    if (!open) return '';
    let filled = open.item.kind === 'tool' && open.pieces.length === 0 ? write('{}') : '';
    if (open.signature !== '' && open.frames === null) filled += announce(open);
    const { frames, item, pieces, signature } = open;
    open = null;
    if (frames === null) return filled;
    const text = pieces.join('');
    const whole = renderItem(item, text, status, signature);
    const outputIndex = output.push(whole) - 1;
    return (
      filled +
      (pieces.length > 0 ? frames.close(numbered, text) : '') +
      numbered('response.output_item.done', { output_index: outputIndex, item: whole })
    );
  };

  const openBlock = (event: InferenceEvent & { type: 'block_open' }): string => {
    const before = close('completed');
    const { kind } = event;
    const item = {
      kind,
      id: mint(ITEM_PREFIXES[kind]),
      callId: kind === 'tool' ? nameCall(event.toolId) : '',
      name: event.toolName ?? '',
      phase: event.phase,
    };
    open = { item, frames: null, pieces: [], signature: '' };
    if (kind !== 'tool') return before; // announced with its first text, so that no empty item is sent
    calledTools = true;
    return before + announce(open);
  };

  const finish = (event: InferenceEvent & { type: 'finish' }, fields: CreditFields | undefined): string => {
    const ending = responsesEnding(event.reason, calledTools);
    let closed = close(ending.status);
    if (event.explanation !== undefined && !refused) {
      openBlock({ type: 'block_open', index: 0, kind: 'refusal' });
      closed += write(event.explanation) + close(ending.status);
    }
    over = true;
    const response = renderResponse(head, ending, output, usage);
    return (
      closed +
      numbered(`response.${ending.status}`, {
        response: { ...response, usage: { ...(response.usage as Json), ...fields }, ...fields },
      })
    );
  };

  return {
    push(event, fields) {
      if (over) return '';
      switch (event.type) {
        case 'delta':
          return write(event.text);
        case 'start':
          return start(event);
        case 'block_open':
          return openBlock(event);
        case 'block_close':
          if (open) open.signature = event.signature ?? '';
          return '';
        case 'usage':
          ({ usage } = event);
          return '';
        case 'finish':
          return finish(event, fields);
        case 'error': {
          const closed = close('incomplete');
          over = true;
          const { request_id } = options.errorBody?.(errorOf(event)) ?? {};
          return (
            closed + numbered('error', { code: event.code, message: event.message, param: null, request_id })
          );
        }
      }
    },
  };
};
