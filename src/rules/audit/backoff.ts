const SHORTEST_MS = 500;
const LONGEST_MS = 60_000;
const LONGEST_ASKED_MS = 5 * 60_000;
const HELD_SHORTEST_MS = 5_000;
const HELD_LONGEST_MS = 5 * 60_000;

/** Full jitter: anywhere from half a second to a bound that doubles with each failure. `random` is from 0 to 1. */
export function retryDelayMs(failures: number, random: number, askedMs?: number): number {
  const bound = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(failures, 20));
  const delayMs = SHORTEST_MS + random * (bound - SHORTEST_MS);
  return askedMs === undefined ? delayMs : Math.max(delayMs, Math.min(askedMs, LONGEST_ASKED_MS));
}

/** What only a person can correct is tried again slowly: 5 s to 5 min, doubling, spread over the upper half. */
export function heldDelayMs(failures: number, random: number): number {
  const bound = Math.min(HELD_LONGEST_MS, HELD_SHORTEST_MS * 2 ** Math.min(Math.max(failures - 1, 0), 20));
  return Math.max(HELD_SHORTEST_MS, bound * (0.5 + random / 2));
}
