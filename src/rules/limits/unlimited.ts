import type { Admit, Settlement } from '../../core/exchange.js';

const unmetered: Promise<Settlement> = Promise.resolve({ remainingCredits: null });

/** Admits everything: what stands behind the seam until the limiter does. */
export const admitAll: Admit = async () => ({ headers: {}, settle: () => unmetered });
