import { readRecord } from '../../io/records/read-record.js';
import type { Records } from '../../io/records/records.js';
import { USAGE, UsageRecord, type UsageRow } from './layout.js';

/** Which usage is asked for: days are `2031-01-31`, both included. */
export interface UsageQuery {
  readonly from: string;
  readonly to: string;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly after: string | null;
  readonly limit: number;
}

const READ_AT_ONCE = 200;
/** Records looked at for one page: a narrow filter over much usage ends early and says that there is more. */
const MOST_READ = 5_000;

/** One page of the usage, in order of days. */
export const listUsage = async (
  records: Records,
  organizationId: string,
  query: UsageQuery,
): Promise<{
  readonly rows: readonly UsageRow[];
  readonly hasMore: boolean;
  readonly lastId: string | null;
}> => {
  const { from, to, limit } = query;
  const rows: UsageRow[] = [];
  // Ids begin with their day and a dot, which sorts before any digit of a later day.
  let after = query.after !== null && query.after > from ? query.after : from;
  for (let read = 0; read < MOST_READ;) {
    const { items, hasMore } = await records.list(organizationId, USAGE, { after, limit: READ_AT_ONCE });
    for (const stored of items) {
      read++;
      const row = asRow(stored.id, readRecord(UsageRecord, stored), query.model);
      if (row.day > to) return { rows, hasMore: false, lastId: after };
      const isWanted =
        (query.projectId === null || row.projectId === query.projectId) &&
        (query.keyId === null || row.keyId === query.keyId) &&
        Object.keys(row.models).length > 0;
      if (isWanted && rows.length === limit) return { rows, hasMore: true, lastId: after };
      after = stored.id;
      if (isWanted) rows.push(row);
    }
    if (!hasMore) return { rows, hasMore: false, lastId: after };
  }
  return { rows, hasMore: true, lastId: after };
};

const asRow = (id: string, record: UsageRecord, model: string | null): UsageRow => ({
  id,
  day: record.day,
  projectId: record.project_id,
  keyId: record.api_key_id,
  models:
    model === null
      ? record.models
      : Object.fromEntries(Object.entries(record.models).filter(([name]) => name === model)),
});
