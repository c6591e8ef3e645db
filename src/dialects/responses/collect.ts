import type { InferenceEvent } from '../../core/events.js';
import { newId } from '../../core/ids.js';
import { callArguments, gatherAnswer, type Answer, type AnswerBlock } from '../answer.js';
import type { Json } from '../dialect.js';
import { keepId, nameCalls } from '../encoding.js';
import type { ResponsesEncodeOptions } from './encode.js';
import { echoRequest, ITEM_PREFIXES, renderItem, renderResponse, responsesEnding } from './snapshot.js';

/** Why an answer was refused stands in a refusal of its own, where none was given. */
const withExplanation = ({ blocks, explanation }: Answer): readonly AnswerBlock[] => {
  if (explanation === null || blocks.some((block) => block.kind === 'refusal')) return blocks;
  const rest = { toolId: undefined, toolName: '', signature: '', phase: undefined };
  return [...blocks, { kind: 'refusal', text: explanation, ...rest }];
};

/** The whole body of a non-stream answer. Throws what an error event says. */
export const collectResponses = (
  events: Iterable<InferenceEvent>,
  options: ResponsesEncodeOptions = {},
): Json => {
  const mint = options.newId ?? newId;
  const nowMs = options.nowMs ?? Date.now;
  const nameCall = nameCalls(() => mint('call'));
  const answer = gatherAnswer(events);
  const blocks = withExplanation(answer);
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
      phase: block.phase,
    };
    const last = index === blocks.length - 1;
    const text = tool ? callArguments(block) : block.text;
    return renderItem(item, text, last ? ending.status : 'completed', block.signature);
  };

  const head = {
    id: keepId(answer.id, 'resp_', () => mint('resp')),
    createdAtS: Math.floor(nowMs() / 1_000),
    model: answer.model,
    echo: echoRequest(options.request ?? {}),
  };
  return renderResponse(head, ending, blocks.map(outputItem), answer.usage);
};
