import type { BlockKind, FinishReason, InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { noUsage, type Usage } from '../../core/usage.js';
import { frame, frameText } from '../../io/sse/encode.js';
import type { CreditFields, Json } from '../dialect.js';
import { errorOf, keepId, nameCalls, settleReason, type EncodeOptions, type Encoder } from '../encoding.js';

export interface ChatEncodeOptions extends EncodeOptions {
  /** The client's `stream_options.include_usage`: a chunk nobody asked for breaks readers of `choices[0]`. */
  readonly includeUsage?: boolean;
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
  pause: 'stop',
};

const DELTA_KEYS: Readonly<Record<Exclude<BlockKind, 'tool'>, string>> = {
  text: 'content',
  refusal: 'refusal',
  reasoning: 'reasoning_content',
};

export const chatFinishReason = (reason: FinishReason, calledTools: boolean): string =>
  FINISH_REASONS[settleReason(reason, calledTools)];

export const chatUsage = (usage: Usage): Json => {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
};

export const newChatId = (mint: (prefix: string) => string): string => mint('chatcmpl').replace('_', '-');

const errorType = (code: string): string => {
  if (code === 'rate_limit_exceeded' || code === 'provider_rate_limited') return 'rate_limit_error';
  return code.startsWith('invalid_') ? 'invalid_request_error' : 'server_error';
};

export const encodeChat = (options: ChatEncodeOptions = {}): Encoder => {
  const mint = options.newId ?? newId;
  const nowMs = options.nowMs ?? Date.now;
  const nameCall = nameCalls(() => mint('call'));
  let usage = noUsage;
  let chunk: Json = {};
  let chunkHead = '';
  let open: {
    readonly kind: BlockKind;
    readonly head: string;
    readonly tail: string;
    empty: boolean;
  } | null = null;
  let nextCall = 0;
  let refused = false;
  let over = false;

  const deltaFrame = (delta: Json, finishReason: string | null = null, fields?: CreditFields): string =>
    frame(null, { ...chunk, choices: [{ index: 0, delta, finish_reason: finishReason }], ...fields });

  const start = (event: InferenceEvent & { type: 'start' }): string => {
    usage = event.usage ?? noUsage;
    chunk = {
      id: keepId(event.id, 'chatcmpl-', () => newChatId(mint)),
      object: 'chat.completion.chunk',
      created: Math.floor(nowMs() / 1_000),
      model: event.model,
    };
    chunkHead = `data: ${JSON.stringify(chunk).slice(0, -1)},"choices":[{"index":0,"delta":{`;
    return deltaFrame({ role: 'assistant', content: '' });
  };

  const write = (text: string): string => {
    if (!open || text === '') return '';
    if (open.empty) {
      open.empty = false;
      refused ||= open.kind === 'refusal';
    }
    return `${open.head}${JSON.stringify(text)}${open.tail}`;
  };

  const close = (): string => {
    const text = open?.kind === 'tool' && open.empty ? write('{}') : '';
    open = null;
    return text;
  };

  const openBlock = (event: InferenceEvent & { type: 'block_open' }): string => {
    const before = close();
    if (event.kind !== 'tool') {
      // All content is one text here: what is no part of the answer goes with the reasoning.
      const kind = event.phase === 'commentary' ? 'reasoning' : event.kind;
      const head = `${chunkHead}"${DELTA_KEYS[kind]}":`;
      open = { kind, head, tail: '},"finish_reason":null}]}\n\n', empty: true };
      return before;
    }
    const index = nextCall++;
    const head = `${chunkHead}"tool_calls":[{"index":${index},"function":{"arguments":`;
    open = { kind: 'tool', head, tail: '}}]},"finish_reason":null}]}\n\n', empty: true };
    const call = {
      index,
      id: nameCall(event.toolId),
      type: 'function',
      function: { name: event.toolName ?? '', arguments: '' },
    };
    return before + deltaFrame({ tool_calls: [call] });
  };

  const finish = (event: InferenceEvent & { type: 'finish' }, fields: CreditFields | undefined): string => {
    const closed = close();
    const explained =
      event.explanation !== undefined && !refused ? deltaFrame({ refusal: event.explanation }) : '';
    over = true;
    const reason = chatFinishReason(event.reason, nextCall > 0);
    const ending =
      options.includeUsage === true
        ? deltaFrame({}, reason) +
          frame(null, { ...chunk, choices: [], usage: { ...chatUsage(usage), ...fields }, ...fields })
        : deltaFrame({}, reason, fields);
    return closed + explained + ending + frameText(null, '[DONE]');
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
          return close();
        case 'usage':
          ({ usage } = event);
          return '';
        case 'finish':
          return finish(event, fields);
        case 'error':
          over = true;
          if (options.errorBody) return frame(null, options.errorBody(errorOf(event)));
          return frame(null, {
            error: { message: event.message, type: errorType(event.code), param: null, code: event.code },
          });
      }
    },
  };
};
