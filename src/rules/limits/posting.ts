import type { LimitEvents } from './events.js';
import { SETTLED_TTL_MS, type Limiter, type SettleReply, type SettleRequest } from './limiter.js';

export interface PostingOptions {
  readonly settle: Limiter['settle'];
  /** Whether the shared limiter may be called now. */
  readonly mayCall: () => boolean;
  readonly ticksMs: () => number;
  readonly events: LimitEvents;
  readonly most?: number;
  readonly everyMs?: number;
}

/** Times of the monotonic clock. */
interface Waiting {
  readonly request: SettleRequest;
  /** When it was first sent with unknown outcome; null = never sent. */
  firstSentMs: number | null;
  /** When it was admitted without the shared limiter, which then counts it as well; null = it was not. */
  readonly startedMs: number | null;
}

const AT_ONCE = 64;

/** Settlements the shared limiter has not taken yet. Each is sent until it is taken; its lease id makes it act once. */
export class Posting {
  readonly #waiting = new Map<string, Waiting>();
  readonly #options: PostingOptions;
  #timer: NodeJS.Timeout | null = null;
  #dropped = 0;
  #isClosed = false;

  constructor(options: PostingOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(
    request: SettleRequest,
    { firstSentMs = null, startedMs = null }: Partial<Omit<Waiting, 'request'>> = {},
  ): void {
    const { most = 100_000, events } = this.#options;
    if (this.#waiting.size >= most) {
      for (const oldest of this.#waiting.keys()) {
        this.#waiting.delete(oldest);
        break;
      }
      this.#dropped++;
    }
    this.#waiting.set(request.leaseId, { request, firstSentMs, startedMs });
    events.waiting(this.#waiting.size, this.#dropped);
    this.#plan();
  }

  /** Sends what waits, as long as it is taken. */
  async flush(): Promise<void> {
    const { events, mayCall } = this.#options;
    while (this.#waiting.size > 0 && mayCall()) {
      const some = [...this.#waiting.values()].slice(0, AT_ONCE);
      // One goes ahead: while the limiter is away, a single call finds out.
      if (!(await this.#send(some[0]!))) break;
      const taken = await Promise.all(some.slice(1).map((each) => this.#send(each)));
      events.waiting(this.#waiting.size, this.#dropped);
      if (taken.includes(false)) break;
    }
    events.waiting(this.#waiting.size, this.#dropped);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.flush();
  }

  async #send(waiting: Waiting): Promise<boolean> {
    const { settle, ticksMs, events } = this.#options;
    const { request, firstSentMs, startedMs } = waiting;
    const nowMs = ticksMs();
    // Beyond the marker's life, a settlement that may have acted must not act again.
    const again = firstSentMs !== null && nowMs - firstSentMs > SETTLED_TTL_MS / 2;
    waiting.firstSentMs ??= nowMs;
    let reply: SettleReply;
    try {
      reply = await settle({
        ...request,
        again,
        ...(startedMs !== null && { startedAgoMs: nowMs - startedMs }),
      });
    } catch {
      return false;
    }
    this.#waiting.delete(request.leaseId);
    events.settled(reply.outcome, reply.overdraft);
    return true;
  }

  #plan(): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.flush().then(
        () => this.#waiting.size > 0 && this.#plan(),
        () => this.#plan(),
      );
    }, this.#options.everyMs ?? 500);
    this.#timer.unref();
  }
}
