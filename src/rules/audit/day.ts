const DAY_MS = 24 * 60 * 60 * 1_000;

/** Days since 1970, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
