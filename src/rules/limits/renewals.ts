import type { Log } from '../../core/log.js';
import type { Limiter, Progress } from './limiter.js';

const RENEW_EVERY_MS = 10_000;

/** A lease under way, and where it is kept. */
export interface Renewable {
  readonly renew: Limiter['renew'];
  readonly progress: () => Progress;
}

/** Keeps leases alive: one call per organization each time, however many it has. */
export class Renewals {
  readonly #leases = new Set<Renewable>();
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;

  constructor(log: Log, everyMs = RENEW_EVERY_MS) {
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#running ??= this.renew().finally(() => (this.#running = null));
    }, everyMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#leases.size;
  }

  add(lease: Renewable): void {
    this.#leases.add(lease);
  }

  remove(lease: Renewable): void {
    this.#leases.delete(lease);
  }

  async renew(): Promise<void> {
    const groups = new Map<Limiter['renew'], Map<string, Progress[]>>();
    for (const { renew, progress } of this.#leases) {
      const group = groups.get(renew) ?? new Map<string, Progress[]>();
      groups.set(renew, group);
      const lease = progress();
      const name = `${lease.space}\n${lease.organizationId}`;
      const list = group.get(name);
      if (list) list.push(lease);
      else group.set(name, [lease]);
    }
    for (const [renew, group] of groups)
      for (const leases of group.values())
        await renew(leases).catch((error: unknown) => {
          this.#log.warn({ err: error }, 'Leases could not be renewed.');
        });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
