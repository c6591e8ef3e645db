import type { InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { callArguments, gatherAnswer, type AnswerBlock } from '../answer.js';
import type { Json } from '../dialect.js';
import { keepId, nameCalls, type EncodeOptions } from '../encoding.js';
import { messagesEnding, messagesUsage, safeToolId } from './encode.js';

/** A call cut short is no JSON yet; the format only has room for an object. */
const parseInput = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
};

/** The whole body of a non-stream answer. Throws what an error event says. */
export const collectMessages = (events: Iterable<InferenceEvent>, options: EncodeOptions = {}): Json => {
  const mint = options.newId ?? newId;
  const nameCall = nameCalls(() => mint('toolu'), safeToolId);
  const answer = gatherAnswer(events);

  const contentBlock = (block: AnswerBlock): Json => {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return { type: 'text', text: block.text };
      case 'reasoning':
        return { type: 'thinking', thinking: block.text, signature: block.signature };
      case 'tool':
        return {
          type: 'tool_use',
          id: nameCall(block.toolId),
          name: block.toolName,
          input: parseInput(callArguments(block)),
        };
    }
  };

  const refusals = answer.blocks.filter((block) => block.kind === 'refusal').map((block) => block.text);
  return {
    id: keepId(answer.id, 'msg_', () => mint('msg')),
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.blocks.map(contentBlock),
    ...messagesEnding(answer.reason, answer.stopSequence, {
      tools: answer.blocks.some((block) => block.kind === 'tool'),
      refusal: refusals.length > 0 ? refusals.join('') : answer.explanation,
    }),
    usage: messagesUsage(answer.usage),
  };
};
