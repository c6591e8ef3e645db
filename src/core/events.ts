import type { Usage } from './usage.js';

export type BlockKind = 'text' | 'reasoning' | 'tool' | 'refusal';

/** Why an answer ended, in no vendor's words. */
export type FinishReason = 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'refusal' | 'pause';

/**
 * An answer as a sequence every wire format can be read into and written from.
 * One `start`, then blocks one at a time with indexes from 0, then `usage` and one `finish` (or one `error`).
 */
export type InferenceEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly usage: Usage | null }
  | {
      readonly type: 'block_open';
      readonly index: number;
      readonly kind: BlockKind;
      readonly toolId?: string;
      readonly toolName?: string;
      /** Text said on the way to the answer, which is no part of it. */
      readonly phase?: 'commentary';
    }
  /** Text, reasoning, refusal text, or a piece of a tool call's JSON arguments. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /** The signature is the issuer's proof of the reasoning, or all there is of it. */
  | { readonly type: 'block_close'; readonly index: number; readonly signature?: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly stopSequence: string | null;
      /** Why an answer was refused, where no block says so. */
      readonly explanation?: string;
    }
  | { readonly type: 'error'; readonly code: string; readonly message: string };
