import type { BlockKind, FinishReason, InferenceEvent } from '../core/events.js';
import { noUsage, type Usage } from '../core/usage.js';
import { errorOf } from './encoding.js';

export interface AnswerBlock {
  readonly kind: BlockKind;
  readonly text: string;
  readonly toolId: string | undefined;
  readonly toolName: string;
  readonly signature: string;
  readonly phase: 'commentary' | undefined;
}

/** A whole answer, in no vendor's words. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly AnswerBlock[];
  readonly usage: Usage;
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
  /** Why it was refused: what a refusal says, else what its ending says. */
  readonly explanation: string | null;
}

/** Empty text is refused when a client sends it back, so it is never written. A tool call always is. */
const hasContent = (block: AnswerBlock): boolean =>
  block.kind === 'tool' || block.text !== '' || (block.kind === 'reasoning' && block.signature !== '');

/** Gathers events into a whole answer. Throws what an error event says. */
export const gatherAnswer = (events: Iterable<InferenceEvent>): Answer => {
  const blocks: AnswerBlock[] = [];
  let [id, model, usage] = ['', '', noUsage];
  let reason: FinishReason = 'stop';
  let stopSequence: string | null = null;
  let explanation: string | null = null;
  let open: Omit<AnswerBlock, 'text' | 'signature'> | null = null;
  let pieces: string[] = [];

  const close = (signature: string): void => {
    if (!open) return;
    const block = { ...open, text: pieces.join(''), signature };
    if (hasContent(block)) blocks.push(block);
    open = null;
    pieces = [];
  };

  for (const event of events) {
    switch (event.type) {
      case 'start':
        ({ id, model } = event);
        usage = event.usage ?? noUsage;
        break;
      case 'block_open':
        close('');
        open = { kind: event.kind, toolId: event.toolId, toolName: event.toolName ?? '', phase: event.phase };
        break;
      case 'delta':
        pieces.push(event.text);
        break;
      case 'block_close':
        close(event.signature ?? '');
        break;
      case 'usage':
        ({ usage } = event);
        break;
      case 'finish':
        close('');
        ({ reason, stopSequence } = event);
        if (event.explanation !== undefined) explanation = event.explanation;
        break;
      case 'error':
        throw errorOf(event);
    }
  }
  return { id, model, blocks, usage, reason, stopSequence, explanation };
};

/** A call's arguments as JSON text: a call without any still has an object. */
export const callArguments = (block: AnswerBlock): string => (block.text === '' ? '{}' : block.text);
