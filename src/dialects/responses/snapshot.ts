import type { BlockKind, FinishReason } from '../../core/events.js';
import type { Usage } from '../../core/usage.js';
import type { Json } from '../dialect.js';
import { settleReason } from '../encoding.js';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One output item; its ids are minted once and stand in every event and in the last snapshot. */
export interface OutputItem {
  readonly kind: BlockKind;
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly phase?: 'commentary' | undefined;
}

export const ITEM_PREFIXES: Readonly<Record<BlockKind, string>> = {
  text: 'msg',
  refusal: 'msg',
  reasoning: 'rs',
  tool: 'fc',
};

export const textPart = (text: string): Json => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});
export const refusalPart = (refusal: string): Json => ({ type: 'refusal', refusal });
export const summaryPart = (text: string): Json => ({ type: 'summary_text', text });

/** The item as it stands before (`text` null) and after its text. */
export const renderItem = (
  item: OutputItem,
  text: string | null,
  status: ItemStatus,
  signature = '',
): Json => {
  switch (item.kind) {
    case 'text':
    case 'refusal': {
      const part = item.kind === 'text' ? textPart : refusalPart;
      return {
        id: item.id,
        type: 'message',
        status,
        role: 'assistant',
        ...(item.phase && { phase: item.phase }),
        content: text === null ? [] : [part(text)],
      };
    }
    case 'reasoning':
      return {
        id: item.id,
        type: 'reasoning',
        summary: text === null || text === '' ? [] : [summaryPart(text)],
        ...(signature !== '' && { encrypted_content: signature }),
      };
    case 'tool':
      return {
        id: item.id,
        type: 'function_call',
        status,
        call_id: item.callId,
        name: item.name,
        arguments: text ?? '',
      };
  }
};

export const responsesUsage = (usage: Usage): Json => {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
};

/** Fields of the request that the format repeats in its answer, with what stands there when it gave none. */
const ECHOED: Json = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
};

export const echoRequest = (request: Json): Json =>
  Object.fromEntries(Object.entries(ECHOED).map(([key, missing]) => [key, request[key] ?? missing]));

export interface ResponseEnding {
  readonly status: 'completed' | 'incomplete';
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | null;
}

export const responsesEnding = (reason: FinishReason, calledTools: boolean): ResponseEnding => {
  switch (settleReason(reason, calledTools)) {
    case 'length':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'refusal':
      return { status: 'incomplete', incompleteReason: 'content_filter' };
    default:
      return { status: 'completed', incompleteReason: null };
  }
};

export interface ResponseHead {
  readonly id: string;
  readonly createdAtS: number;
  readonly model: string;
  readonly echo: Json;
}

/** The `response` object: `ending` null while it is under way. */
export const renderResponse = (
  head: ResponseHead,
  ending: ResponseEnding | null,
  output: readonly Json[],
  usage: Usage | null,
): Json => {
  const incompleteReason = ending?.incompleteReason ?? null;
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAtS,
    status: ending?.status ?? 'in_progress',
    error: null,
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    model: head.model,
    output,
    ...head.echo,
    usage: usage && responsesUsage(usage),
  };
};
