import type { Log } from '../../core/log.js';
import type { Records, Step } from '../../io/records/records.js';
import { SINK_ERRORS, SINKS, type SinkErrorRecord } from './layout.js';

export interface SinkStatusOptions {
  readonly records: Records;
  readonly log: Log;
  /** At most one write per organization in this time. */
  readonly flushEveryMs?: number;
}

/** How a sink is doing, told again and again. Times are milliseconds since 1970. */
export interface SinkReport {
  readonly sinkId: string;
  readonly organizationId: string;
  readonly lastSuccessAt?: number | undefined;
  readonly lastErrorAt?: number | undefined;
  readonly lastError?: string;
}

interface Pending {
  readonly successes: Map<string, number>;
  readonly errors: Map<string, SinkErrorRecord>;
}

const FLUSH_EVERY_MS = 1_000;
const REASON_CHARACTERS = 300;

/** Remembers how deliveries went and writes it down now and then: a delivery costs no write. */
export class SinkStatusWriter {
  readonly #options: SinkStatusOptions;
  #pending = new Map<string, Pending>();
  readonly #noted = new Map<string, Pick<SinkReport, 'lastSuccessAt' | 'lastErrorAt'>>();
  #timer: NodeJS.Timeout | null = null;
  #flushing = Promise.resolve();
  #closed = false;

  constructor(options: SinkStatusOptions) {
    this.#options = options;
  }

  /** What is not new is not written again. */
  note({ organizationId, sinkId, lastSuccessAt, lastErrorAt, lastError = '' }: SinkReport): void {
    const before = this.#noted.get(sinkId);
    this.#noted.set(sinkId, { lastSuccessAt, lastErrorAt });
    if (lastSuccessAt !== undefined && lastSuccessAt !== before?.lastSuccessAt) {
      this.#of(organizationId).successes.set(sinkId, lastSuccessAt);
      this.#schedule();
    }
    if (lastErrorAt !== undefined && lastErrorAt !== before?.lastErrorAt) {
      const at = new Date(lastErrorAt).toISOString();
      this.#of(organizationId).errors.set(sinkId, { at, reason: lastError.slice(0, REASON_CHARACTERS) });
      this.#schedule();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flush();
  }

  #of(organizationId: string): Pending {
    let pending = this.#pending.get(organizationId);
    if (!pending) this.#pending.set(organizationId, (pending = { successes: new Map(), errors: new Map() }));
    return pending;
  }

  #schedule(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => void this.#flush(), this.#options.flushEveryMs ?? FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /** One after the other: a slow store must not see an older status last. */
  #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const taken = this.#pending;
    this.#pending = new Map();
    for (const [organizationId, pending] of taken) {
      try {
        await this.#writeOne(organizationId, pending);
      } catch (error) {
        this.#options.log.warn(
          { err: error, partition: organizationId },
          'How the deliveries of exports went could not be written down.',
        );
        this.#takeBack(organizationId, pending);
      }
    }
  }

  async #writeOne(organizationId: string, { successes, errors }: Pending): Promise<void> {
    const { records } = this.#options;
    if (successes.size > 0) await records.noteUses(organizationId, successes);
    const steps: Step[] = [];
    for (const [id, value] of errors)
      if (await records.get(organizationId, SINKS, id))
        steps.push({ op: 'put', collection: SINK_ERRORS, id, value: { ...value }, expect: 'any' });
      else this.#noted.delete(id); // deleted meanwhile: it leaves nothing behind
    if (steps.length > 0) await records.commit(organizationId, steps);
  }

  /** For the next flush; what happened meanwhile is newer. */
  #takeBack(organizationId: string, { successes, errors }: Pending): void {
    const newer = this.#pending.get(organizationId);
    this.#pending.set(organizationId, {
      successes: new Map([...successes, ...(newer?.successes ?? [])]),
      errors: new Map([...errors, ...(newer?.errors ?? [])]),
    });
    this.#schedule();
  }
}
