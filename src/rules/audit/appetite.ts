import type { BatchItem, Outcome, Sender } from '../../core/sink.js';

const LEAST_BYTES = 64 * 1024;
const GROWTH = 1.02;

/**
 * How large a batch a destination takes, whatever it is said to take: a proxy in front of it may take less. Halved when
 * one was too large, and grown back a little with each that was not.
 */
export class Appetite {
  #bytes = Infinity;

  within({ count, bytes }: Sender['limits']): { readonly count: number; readonly bytes: number } {
    return { count, bytes: Math.min(bytes, this.#bytes) };
  }

  note(kind: Outcome['kind'], events: readonly BatchItem[]): void {
    if (kind === 'accepted') this.#bytes *= GROWTH;
    if (kind !== 'split' || events.length === 1) return; // one event that is too large says nothing of others
    const tried = events.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    this.#bytes = Math.max(LEAST_BYTES, Math.min(this.#bytes, tried) / 2);
  }
}
