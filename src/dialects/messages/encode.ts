import type { BlockKind, FinishReason, InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { noUsage, type Usage } from '../../core/usage.js';
import { frame } from '../../io/sse/encode.js';
import type { CreditFields, Json } from '../dialect.js';
import { errorOf, keepId, nameCalls, settleReason, type EncodeOptions, type Encoder } from '../encoding.js';

export interface MessagesEncodeOptions extends EncodeOptions {
  /** Stands in message_start where the upstream tells its input tokens only at the end. */
  readonly estimatedInputTokens?: number;
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  pause: 'pause_turn',
};

const DELTA_KEYS: Readonly<Record<BlockKind, readonly [type: string, key: string]>> = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  tool: ['input_json_delta', 'partial_json'],
};

const ERROR_TYPES: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_request_error',
  rate_limit_exceeded: 'rate_limit_error',
  provider_rate_limited: 'rate_limit_error',
  provider_overloaded: 'overloaded_error',
  provider_timeout: 'timeout_error',
};

/** The format has no refusal block: its text is shown as text, and the stop reason says what it is. */
export const messagesEnding = (
  reason: FinishReason,
  stopSequence: string | null,
  sent: { readonly tools: boolean; readonly refusal: string | null },
): Json => {
  const settled = settleReason(reason, sent.tools);
  const refused = settled === 'refusal' || (settled === 'stop' && sent.refusal !== null);
  return {
    stop_reason: refused ? 'refusal' : STOP_REASONS[settled],
    stop_sequence: settled === 'stop_sequence' ? stopSequence : null,
    ...(refused && { stop_details: { type: 'refusal', category: null, explanation: sent.refusal } }),
  };
};

export const messagesUsage = (usage: Usage): Json => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cacheRead,
  output_tokens: usage.output,
  ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
});

export const safeToolId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, '_');

export const encodeMessages = (options: MessagesEncodeOptions = {}): Encoder => {
  const mint = options.newId ?? newId;
  const nameCall = nameCalls(() => mint('toolu'), safeToolId);
  let usage = noUsage;
  let nextIndex = 0;
  let open: { readonly kind: BlockKind; head: string | null; empty: boolean } | null = null;
  let calledTools = false;
  let refusal: string | null = null;
  let over = false;

  const begin = (kind: BlockKind, contentBlock: Json): string => {
    const index = nextIndex++;
    const [type, key] = DELTA_KEYS[kind];
    const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${key}":`;
    open = { kind, head, empty: true };
    return frame('content_block_start', {
      type: 'content_block_start',
      index,
      content_block: contentBlock,
    });
  };

  const beginWritten = (kind: BlockKind): string =>
    begin(
      kind,
      kind === 'reasoning' ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' },
    );

  const write = (text: string): string => {
    if (!open || text === '') return '';
    const started = open.head === null ? beginWritten(open.kind) : '';
    open.empty = false;
    if (open.kind === 'refusal') refusal = (refusal ?? '') + text;
    return `${started}${open.head ?? ''}${JSON.stringify(text)}}}\n\n`;
  };

  const close = (signature: string): string => {
    if (!open) return '';
    let text = '';
    if (open.kind === 'tool' && open.empty) text += write('{}');
    if (open.kind === 'reasoning' && open.head === null && signature !== '')
      text += beginWritten('reasoning');
    const begun = open.head !== null;
    const index = nextIndex - 1;
    if (begun && open.kind === 'reasoning')
      text += frame('content_block_delta', {
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature },
      });
    open = null;
    return begun ? text + frame('content_block_stop', { type: 'content_block_stop', index }) : text;
  };

  const start = (event: InferenceEvent & { type: 'start' }): string => {
    usage = event.usage ?? { ...noUsage, input: options.estimatedInputTokens ?? 0 };
    return frame('message_start', {
      type: 'message_start',
      message: {
        id: keepId(event.id, 'msg_', () => mint('msg')),
        type: 'message',
        role: 'assistant',
        model: event.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: messagesUsage(usage),
      },
    });
  };

  const openBlock = (event: InferenceEvent & { type: 'block_open' }): string => {
    const before = close('');
    if (event.kind !== 'tool') {
      // Opened with its first text: an empty block is refused when the client sends it back.
      open = { kind: event.kind, head: null, empty: true };
      return before;
    }
    calledTools = true;
    const call = { type: 'tool_use', id: nameCall(event.toolId), name: event.toolName ?? '', input: {} };
    return before + begin('tool', call);
  };

  const finish = (event: InferenceEvent & { type: 'finish' }, fields: CreditFields | undefined): string => {
    const closed = close('');
    over = true;
    const sent = { tools: calledTools, refusal: refusal ?? event.explanation ?? null };
    const delta = messagesEnding(event.reason, event.stopSequence, sent);
    const ending = { type: 'message_delta', delta, usage: { ...messagesUsage(usage), ...fields }, ...fields };
    return closed + frame('message_delta', ending) + frame('message_stop', { type: 'message_stop' });
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
          return close(event.signature ?? '');
        case 'usage':
          ({ usage } = event);
          return '';
        case 'finish':
          return finish(event, fields);
        case 'error': {
          over = true;
          if (options.errorBody) return frame('error', options.errorBody(errorOf(event)));
          const type = ERROR_TYPES[event.code] ?? (event.code.endsWith('_error') ? event.code : 'api_error');
          const error = { type, message: event.message, code: event.code };
          return frame('error', { type: 'error', error });
        }
      }
    },
  };
};
