import type { InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { callArguments, gatherAnswer, type AnswerBlock } from '../answer.js';
import type { Json } from '../dialect.js';
import { keepId, nameCalls } from '../encoding.js';
import type { ResponsesEncodeOptions } from './encode.js';
import { echoRequest, ITEM_PREFIXES, renderItem, renderResponse, responsesEnding } from './snapshot.js';

/** The whole body of a non-stream answer. Throws what an error event says. */
export const collectResponses = (
  events: Iterable<InferenceEvent>,
  options: ResponsesEncodeOptions = {},
): Json => {
  const mint = options.newId ?? newId;
  const nowMs = options.nowMs ?? Date.now;
  const nameCall = nameCalls(() => mint('call'));
  const answer = gatherAnswer(events);
  // A signature without reasoning text means nothing in this format.
  const blocks = answer.blocks.filter((block) => block.kind !== 'reasoning' || block.text !== '');
  const ending = responsesEnding(
    answer.reason,
    blocks.some((block) => block.kind === 'tool'),
  );

  const outputItem = (block: AnswerBlock, index: number): Json => {
    const tool = block.kind === 'tool';
    const item = {
      kind: block.kind,
      id: mint(ITEM_PREFIXES[block.kind]),
      callId: tool ? nameCall(block.toolId) : '',
      name: block.toolName,
    };
    const last = index === blocks.length - 1;
    return renderItem(item, tool ? callArguments(block) : block.text, last ? ending.status : 'completed');
  };

  const head = {
    id: keepId(answer.id, 'resp_', () => mint('resp')),
    createdAtS: Math.floor(nowMs() / 1_000),
    model: answer.model,
    echo: echoRequest(options.request ?? {}),
  };
  return renderResponse(head, ending, blocks.map(outputItem), answer.usage);
};
