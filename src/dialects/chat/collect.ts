import type { BlockKind, InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { callArguments, gatherAnswer } from '../answer.js';
import type { Json } from '../dialect.js';
import { keepId, nameCalls, type EncodeOptions } from '../encoding.js';
import { chatFinishReason, chatUsage, newChatId } from './encode.js';

/** The whole body of a non-stream answer. Throws what an error event says. */
export const collectChat = (events: Iterable<InferenceEvent>, options: EncodeOptions = {}): Json => {
  const mint = options.newId ?? newId;
  const nowMs = options.nowMs ?? Date.now;
  const nameCall = nameCalls(() => mint('call'));
  const answer = gatherAnswer(events);

  const textOf = (kind: BlockKind): string | null => {
    const texts = answer.blocks
      .filter((block) => (block.phase === 'commentary' ? 'reasoning' : block.kind) === kind)
      .filter((block) => block.text !== '')
      .map((block) => block.text);
    return texts.length > 0 ? texts.join('') : null;
  };
  const calls = answer.blocks
    .filter((block) => block.kind === 'tool')
    .map((block) => ({
      id: nameCall(block.toolId),
      type: 'function',
      function: { name: block.toolName, arguments: callArguments(block) },
    }));
  const reasoning = textOf('reasoning');

  return {
    id: keepId(answer.id, 'chatcmpl-', () => newChatId(mint)),
    object: 'chat.completion',
    created: Math.floor(nowMs() / 1_000),
    model: answer.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: textOf('text'),
          refusal: textOf('refusal') ?? answer.explanation,
          ...(reasoning !== null && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: chatFinishReason(answer.reason, calls.length > 0),
      },
    ],
    usage: chatUsage(answer.usage),
  };
};
