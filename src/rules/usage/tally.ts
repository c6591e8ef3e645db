import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { Principal } from '../../core/principal.js';
import type { Usage } from '../../core/usage.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Records } from '../../io/records/records.js';
import { forgetUsage } from './forget.js';
import { addSums, noSums, rowId, USAGE, UsageRecord, type Sums } from './layout.js';

export interface TallyOptions {
  readonly records: Records;
  readonly clock: Clock;
  readonly log: Log;
  readonly flushEveryMs?: number;
}

/** What one request took. */
export interface Taken {
  /** The configured name, so that there are few; null = none was found. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly credits: number;
  readonly costUsd: number;
}

interface Row {
  readonly organizationId: string;
  readonly id: string;
  record: UsageRecord;
}

const FLUSH_MS = 5_000;
/** Rows that an organization may begin in a day (subjects of JWTs are anybody's); what is beyond counts under `other`. */
const MOST_ROWS = 5_000;
const MOST_MODELS = 200;
const OTHER = 'other';
const PATIENCE = 20;
const AT_ONCE = 16;

/** Rows begun today. */
class Begun {
  #day = '';
  #rows = new Map<string, Set<string>>();
  #looked = new Set<string>();

  /** Whether the row is there, now at the latest; false = there are too many. */
  has(organizationId: string, day: string, id: string): boolean {
    if (day !== this.#day) {
      this.#day = day;
      this.#rows = new Map();
      this.#looked = new Set();
    }
    let rows = this.#rows.get(organizationId);
    if (!rows) this.#rows.set(organizationId, (rows = new Set<string>()));
    if (rows.has(id)) return true;
    if (rows.size >= MOST_ROWS) return false;
    rows.add(id);
    return true;
  }

  isFirstLook(organizationId: string): boolean {
    if (this.#looked.has(organizationId)) return false;
    this.#looked.add(organizationId);
    return true;
  }
}

/** Counts what requests took by day, project, key and model, and writes the sums now and then: a request costs no write. */
export class Tally {
  readonly #options: TallyOptions;
  readonly #begun = new Begun();
  #organizations = new Map<string, Map<string, Row>>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: TallyOptions) {
    this.#options = options;
  }

  note({ organization, projectId, keyId }: Principal, { model, usage, credits, costUsd }: Taken): void {
    const day = new Date(this.#options.clock.nowMs()).toISOString().slice(0, 10);
    const sums: Sums = {
      requests: 1,
      input_tokens: usage.input,
      cache_read_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
      output_tokens: usage.output,
      credits,
      cost_usd: costUsd,
    };
    this.#add(organization.id, {
      day,
      project_id: projectId,
      api_key_id: keyId,
      models: { [model ?? OTHER]: sums },
    });
  }

  /** Writes what waits. Reading the usage does so first, so that it shows everything of this replica. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const taken = this.#organizations;
    this.#organizations = new Map();
    if (taken.size > 0) this.#flushing = this.#flushing.then(() => this.#write(taken));
    return this.#flushing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  #add(organizationId: string, record: UsageRecord): void {
    let rows = this.#organizations.get(organizationId);
    if (!rows) this.#organizations.set(organizationId, (rows = new Map<string, Row>()));
    let id = rowId(record.day, record.project_id, record.api_key_id);
    if (!this.#begun.has(organizationId, record.day, id)) {
      record = { ...record, project_id: null, api_key_id: OTHER };
      id = rowId(record.day, null, OTHER);
    }
    const row = rows.get(id);
    if (row) row.record = merge(row.record, record);
    else rows.set(id, { organizationId, id, record });
    if (this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#options.flushEveryMs ?? FLUSH_MS);
    this.#timer.unref();
  }

  async #write(organizations: ReadonlyMap<string, ReadonlyMap<string, Row>>): Promise<void> {
    const rows = [...organizations.values()].flatMap((each) => [...each.values()]);
    for (const organizationId of organizations.keys()) await this.#forget(organizationId);
    for (let at = 0; at < rows.length; at += AT_ONCE)
      await Promise.all(rows.slice(at, at + AT_ONCE).map((row) => this.#writeRow(row)));
  }

  /** Once a day for each organization that is used. */
  async #forget(organizationId: string): Promise<void> {
    const { records, clock, log } = this.#options;
    if (!this.#begun.isFirstLook(organizationId)) return;
    try {
      await forgetUsage(records, organizationId, clock.nowMs());
    } catch (error) {
      log.warn({ err: error }, 'Old usage could not be forgotten.');
    }
  }

  async #writeRow({ organizationId, id, record }: Row): Promise<void> {
    const { records, log } = this.#options;
    try {
      for (let turn = 0; turn < PATIENCE; turn++) {
        const stored = await records.get(organizationId, USAGE, id);
        const value = stored ? merge(readRecord(UsageRecord, stored), record) : record;
        const committed = await records.commit(organizationId, [
          { op: 'put', collection: USAGE, id, value, expect: stored?.revision ?? 'absent' },
        ]);
        if (committed.ok) return;
      }
      throw new Error('Too many others are writing the same row.');
    } catch (error) {
      if (this.#isClosed) {
        log.error({ err: error, row: id }, 'Usage could not be written down and is lost.');
        return;
      }
      log.warn({ err: error, row: id }, 'Usage could not be written down yet.');
      this.#add(organizationId, record);
    }
  }
}

const merge = (one: UsageRecord, other: UsageRecord): UsageRecord => {
  const models = { ...one.models };
  for (const [name, sums] of Object.entries(other.models)) {
    const known = Object.hasOwn(models, name) || Object.keys(models).length < MOST_MODELS ? name : OTHER;
    models[known] = addSums(models[known] ?? noSums, sums);
  }
  return { ...one, models };
};
