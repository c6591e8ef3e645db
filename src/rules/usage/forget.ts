import type { Records } from '../../io/records/records.js';
import { USAGE } from './layout.js';

const KEEP_DAYS = 400;
const AT_ONCE = 100;
const MOST = 10_000;

/** Drops what is older than it is kept, some of it each time. */
export const forgetUsage = async (records: Records, organizationId: string, nowMs: number): Promise<void> => {
  const oldest = new Date(nowMs - KEEP_DAYS * 86_400_000).toISOString().slice(0, 10);
  for (let gone = 0; gone < MOST; gone += AT_ONCE) {
    const { items } = await records.list(organizationId, USAGE, { limit: AT_ONCE });
    const old = items.filter(({ id }) => id < oldest);
    if (old.length === 0) return;
    await records.commit(
      organizationId,
      old.map(({ id }) => ({ op: 'delete', collection: USAGE, id, expect: 'any' })),
    );
  }
};
