import { crc32 } from 'node:zlib';
import { setImmediate as breathe } from 'node:timers/promises';
import type { AuditEventType } from '../../core/audit.js';
import type { Statement } from '../../io/records/sqlite.js';
import { erased } from './event.js';
import { isDamage } from './spool-file.js';
import type { Spool } from './spool.js';

/** Which events of an organization are wanted; all that is given must hold. */
export interface HistoryFilter {
  readonly eventType?: AuditEventType;
  readonly decision?: string;
  readonly policyId?: string;
  readonly projectId?: string;
  readonly keyId?: string;
  /** As `user_id` or as `policy_user`. */
  readonly user?: string;
  readonly requestId?: string;
  /** Where events of several are looked through. */
  readonly organizationId?: string;
  /** Milliseconds since 1970; both ends included. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  /** The id of the last event of the page before. */
  readonly after?: string;
  readonly limit: number;
}

export interface HistoryPage {
  /** Events as JSON, newest first. */
  readonly events: readonly string[];
  readonly hasMore: boolean;
}

interface Row {
  readonly seq: number;
  readonly recordedMs: number;
  readonly json: string;
}

/** So many events are looked at before other work has its turn. */
const SLICE = 500;

/** The latest events that match, from the spool; other work of the worker goes on in between. */
export async function findEvents(
  spool: Spool,
  organizationId: string,
  filter: HistoryFilter,
): Promise<HistoryPage> {
  const chain = spool.chainOf(organizationId);
  const events: string[] = [];
  if (chain === null) return { events, hasMore: false };
  const matches = matcherOf(filter);
  const before = filter.after === undefined ? spool.lastSeq + 1 : seqBefore(spool, filter.after);
  for await (const rows of walkBack(spool, chain.chain, before)) {
    for (const { recordedMs, json } of rows) {
      // What came here before that time happened before it too.
      if (filter.sinceMs !== undefined && recordedMs < filter.sinceMs) return { events, hasMore: false };
      if (!matches(json)) continue;
      if (events.length === filter.limit) return { events, hasMore: true };
      events.push(json);
    }
  }
  return { events, hasMore: false };
}

/** Leaves of every event of a user only its place in the chain; gives how many there were. */
export async function eraseEvents(spool: Spool, organizationId: string, user: string): Promise<number> {
  const chain = spool.chainOf(organizationId);
  if (chain === null) return 0;
  const matches = matcherOf({ user });
  const replace = spool.database.prepare('UPDATE events SET json = ?, checksum = ? WHERE seq = ?');
  let count = 0;
  for await (const rows of walkBack(spool, chain.chain, spool.lastSeq + 1)) {
    const found = rows.filter(({ json }) => matches(json));
    if (found.length === 0) continue;
    spool.transact(() => {
      for (const { seq, json } of found) {
        const tombstone = erased(json);
        replace.run(tombstone, crc32(tombstone), seq);
      }
    });
    count += found.length;
  }
  spool.database.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // the log still had the old text
  return count;
}

async function* walkBack(spool: Spool, chain: number, before: number): AsyncGenerator<readonly Row[]> {
  const columns = 'seq, recorded_ms AS recordedMs, json';
  const slice = spool.database.prepare(
    `SELECT ${columns} FROM events WHERE chain = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  const one = spool.database.prepare(`SELECT ${columns} FROM events WHERE chain = ? AND seq = ?`);
  let next = before;
  while (next > 0) {
    const rows = readSlice(slice, chain, next);
    if (rows === null) {
      yield [...readSingly(one, chain, next)];
      next -= SLICE;
    } else {
      yield rows;
      if (rows.length < SLICE) return;
      next = rows.at(-1)!.seq;
    }
    await breathe();
  }
}

/** null = something in it is damaged. */
function readSlice(slice: Statement, chain: number, before: number): Row[] | null {
  try {
    return slice.all(chain, before, SLICE) as Row[];
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

function* readSingly(one: Statement, chain: number, before: number): Generator<Row> {
  for (let seq = before - 1; seq >= Math.max(1, before - SLICE); seq--) {
    try {
      const row = one.get(chain, seq) as Row | undefined;
      if (row) yield row;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

/** Ids are in order of time, so an id that has left still says where its page ended. */
function seqBefore(spool: Spool, id: string): number {
  const exact = spool.database.prepare('SELECT seq FROM events WHERE event_id = ?').get(id);
  const near =
    exact ??
    spool.database
      .prepare('SELECT seq + 1 AS seq FROM events WHERE event_id < ? ORDER BY event_id DESC LIMIT 1')
      .get(id);
  return (near as { seq: number } | undefined)?.seq ?? 0;
}

/** Looks for the spelling of each wanted field first, and parses only what has them all. */
export function matcherOf(filter: Omit<HistoryFilter, 'limit'>): (json: string) => boolean {
  const wanted = Object.entries({
    event_type: filter.eventType,
    decision: filter.decision,
    policy_id: filter.policyId,
    project_id: filter.projectId,
    key_id: filter.keyId,
    request_id: filter.requestId,
    org_id: filter.organizationId,
  }).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const spellings = wanted.map(([field, value]) => `"${field}":${JSON.stringify(value)}`);
  const { user, sinceMs = -Infinity, untilMs = Infinity } = filter;
  const userText = user === undefined ? undefined : JSON.stringify(user);
  return (json) => {
    if (!spellings.every((spelling) => json.includes(spelling))) return false;
    if (userText !== undefined && !json.includes(userText)) return false;
    const event = parse(json);
    if (event === null) return false;
    const createdMs = Date.parse(String(event['created_at']));
    return (
      wanted.every(([field, value]) => event[field] === value) &&
      (user === undefined || event['user_id'] === user || event['policy_user'] === user) &&
      createdMs >= sinceMs &&
      createdMs <= untilMs
    );
  };
}

/** null = damaged; it is no reason to fail whoever looks for others. */
function parse(json: string): Record<string, unknown> | null {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return null;
  }
}
