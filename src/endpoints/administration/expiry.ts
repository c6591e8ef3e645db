import type { Clock } from '../../core/clock.js';
import { invalidParameter } from '../../core/errors.js';

interface Expiry {
  readonly expires_at?: number | null | undefined;
  readonly expires_in_seconds?: number | null | undefined;
}

/** When a new key shall end, in Unix seconds: given as such, or as a lifetime, which is how OpenAI's client says it. */
export const readExpiry = (
  { expires_at: at, expires_in_seconds: lifetimeS }: Expiry,
  clock: Clock,
): number | null => {
  if (typeof lifetimeS !== 'number') return at ?? null;
  if (typeof at === 'number') throw invalidParameter('expires_in_seconds', 'says the same as expires_at.');
  return Math.floor(clock.nowMs() / 1_000) + lifetimeS;
};
