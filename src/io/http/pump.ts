import type { ServerResponse } from 'node:http';
import type { Out, StreamReply } from '../../core/exchange.js';
import { Outlet, SLICE_BYTES } from './outlet.js';
import type { Sent } from './reply.js';

export interface PumpOptions {
  /** Aborted when the gateway stops: the stream then ends with its format's own error. */
  readonly signal: AbortSignal | undefined;
  readonly stallMs: number;
  /** Writes the head; called with the first bytes, not before. */
  readonly writeHead: () => void;
}

const swallow = (): void => undefined;

/** An empty line just went out, so that a comment may stand here. */
const endsFrame = (tail: number): boolean =>
  (tail & 0xffff) === 0x0a0a || (tail & 0xffffff) === 0x0a0d0a || (tail & 0xffff) === 0x0d0d;

/** How a stream is to end once the stage is free. */
type Ending = { readonly kind: 'end' } | { readonly kind: 'fail'; readonly error: unknown };

/**
 * Moves a source through a stage to one client. Driven by events, never by iteration: a chunk costs one call of the
 * stage and its share of one write, and the source is stopped in the tick in which the client leaves.
 */
class Pump {
  readonly #reply: StreamReply;
  readonly #res: ServerResponse;
  readonly #options: PumpOptions;
  readonly #outlet: Outlet;
  readonly #settle: (sent: Sent) => void;
  readonly #refuse: (error: unknown) => void;
  #headOut = false;
  /** What this tick gave so far; leaves in one write. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** The last four bytes sent. */
  #tail = 0;
  /** The stage has not settled its promise yet. */
  #busy = false;
  /** Asked for while the stage was busy. */
  #ending: Ending | null = null;
  /** The source is done with; only the last words are still on their way. */
  #concluding = false;
  #over = false;
  #failure: { readonly cause: unknown } | null = null;
  #heartbeat: NodeJS.Timeout | null = null;
  /** Half heartbeats since the last bytes: counting them is cheaper than moving a timer with every chunk. */
  #quietHalves = 0;

  constructor(
    reply: StreamReply,
    res: ServerResponse,
    options: PumpOptions,
    settle: (sent: Sent) => void,
    refuse: (error: unknown) => void,
  ) {
    this.#reply = reply;
    this.#res = res;
    this.#options = options;
    this.#settle = settle;
    this.#refuse = refuse;
    this.#outlet = new Outlet(res, options.stallMs, this.#onRoom);
  }

  start(): void {
    const { source } = this.#reply;
    const { signal } = this.#options;
    source.on('error', swallow); // outlives us: a destroyed source may still complain
    this.#res.on('close', this.#onClose).on('finish', this.#onFinish);
    if (this.#res.destroyed) this.#onClose();
    else if (signal?.aborted) this.#onAbort();
    else if (source.errored) this.#conclude({ kind: 'fail', error: source.errored });
    else if (source.readableEnded) this.#onEnd();
    else if (source.destroyed) this.#onSourceClose();
    else {
      signal?.addEventListener('abort', this.#onAbort, { once: true });
      source.on('error', this.#onError).on('end', this.#onEnd).on('close', this.#onSourceClose);
      source.on('data', this.#onData);
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    let out: Out;
    try {
      out = this.#reply.stage.feed(chunk);
    } catch (error) {
      this.#conclude({ kind: 'fail', error });
      return;
    }
    if (out instanceof Promise) {
      this.#reply.source.pause();
      this.#take(this.#reply.stage.early());
      this.#await(out, this.#onFed);
    } else this.#take(out);
  };

  readonly #onFed = (out: Buffer | null): void => {
    this.#take(out);
    if (this.#ending) this.#conclude(this.#ending);
    else this.#onRoom();
  };

  readonly #onEnd = (): void => this.#conclude({ kind: 'end' });
  readonly #onError = (error: unknown): void => this.#conclude({ kind: 'fail', error });
  readonly #onSourceClose = (): void =>
    this.#conclude({ kind: 'fail', error: new Error('The upstream closed its stream before the end.') });

  readonly #onAbort = (): void => {
    // The same signal may tell of a client that has left.
    if (this.#res.destroyed) this.#onClose();
    else this.#conclude({ kind: 'fail', error: this.#options.signal?.reason });
  };

  readonly #onRoom = (): void => {
    if (!this.#busy && !this.#concluding && !this.#over && !this.#outlet.blocked) this.#reply.source.resume();
  };

  #await(out: Promise<Buffer | null>, then: (out: Buffer | null) => void): void {
    this.#busy = true;
    out.then(
      (bytes) => {
        this.#busy = false;
        if (!this.#over) then(bytes);
      },
      (error: unknown) => {
        this.#busy = false;
        this.#concluding = false;
        this.#conclude({ kind: 'fail', error });
      },
    );
  }

  #take(out: Buffer | null): void {
    if (out !== null && out.length > 0) {
      if (this.#partBytes === 0) process.nextTick(this.#flush);
      this.#parts.push(out);
      this.#partBytes += out.length;
      if (this.#partBytes >= SLICE_BYTES) this.#flush();
    }
    if (this.#reply.stage.done) this.#finish();
  }

  readonly #flush = (): void => {
    if (this.#partBytes === 0 || this.#over) return;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#partBytes);
    this.#parts = [];
    this.#partBytes = 0;
    if (!this.#openHead()) return;
    for (let i = Math.max(0, bytes.length - 4); i < bytes.length; i++)
      this.#tail = (this.#tail << 8) | bytes[i]!;
    this.#quietHalves = 0;
    this.#outlet.send(bytes);
    if (this.#outlet.blocked) this.#reply.source.pause();
  };

  #openHead(): boolean {
    if (this.#headOut) return true;
    try {
      this.#options.writeHead();
    } catch (error) {
      this.#reject(error);
      return false;
    }
    this.#headOut = true;
    const { heartbeat } = this.#reply;
    if (heartbeat) this.#heartbeat = setInterval(this.#beat, heartbeat.everyMs / 2);
    return true;
  }

  readonly #beat = (): void => {
    if (++this.#quietHalves < 2 || this.#outlet.blocked || !endsFrame(this.#tail)) return;
    this.#quietHalves = 0;
    this.#outlet.send(this.#reply.heartbeat!.bytes);
  };

  /** The last words: the stage's ending, in the order feed, feed, ..., then one of end or fail. */
  #conclude(ending: Ending): void {
    if (this.#over || this.#concluding) return;
    if (this.#busy) {
      this.#ending ??= ending; // the first counts: 'close' follows 'end'
      return;
    }
    if (this.#reply.stage.done) {
      this.#finish();
      return;
    }
    if (ending.kind === 'fail') {
      if (!this.#headOut || this.#failure) {
        if (this.#headOut) this.#abandon();
        else this.#reject(ending.error);
        return;
      }
      this.#failure = { cause: ending.error };
    }
    this.#concluding = true;
    this.#letGoOfSource();
    let out: Out;
    try {
      out = ending.kind === 'end' ? this.#reply.stage.end() : this.#reply.stage.fail(ending.error);
    } catch (error) {
      this.#concluding = false;
      this.#conclude({ kind: 'fail', error });
      return;
    }
    if (out instanceof Promise) this.#await(out, this.#say);
    else this.#say(out);
  }

  readonly #say = (out: Buffer | null): void => {
    this.#concluding = true;
    if (out !== null && out.length > 0) {
      this.#parts.push(out);
      this.#partBytes += out.length;
    }
    this.#finish();
  };

  /** Nothing more will be said. */
  #finish(): void {
    this.#concluding = true;
    this.#letGoOfSource();
    this.#flush();
    if (this.#over || !this.#openHead()) return;
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    this.#outlet.end();
  }

  /** The stage cannot even say that it failed: a cut connection is all the client can be told. */
  #abandon(): void {
    this.#res.destroy();
    this.#stop();
    this.#settle({ delivery: 'upstream_failed', bytes: this.#outlet.bytes, cause: this.#failure?.cause });
  }

  readonly #onFinish = (): void => {
    this.#stop();
    this.#settle({
      delivery: this.#failure ? 'upstream_failed' : 'complete',
      bytes: this.#outlet.bytes,
      cause: this.#failure?.cause,
    });
  };

  readonly #onClose = (): void => {
    this.#stop();
    this.#reply.stage.leave();
    this.#settle({ delivery: 'client_left', bytes: this.#outlet.bytes });
  };

  #reject(error: unknown): void {
    this.#stop();
    this.#refuse(error);
  }

  #letGoOfSource(): void {
    const { source } = this.#reply;
    source.off('data', this.#onData).off('end', this.#onEnd);
    source.off('error', this.#onError).off('close', this.#onSourceClose);
    source.destroy();
  }

  #stop(): void {
    this.#over = true;
    this.#letGoOfSource();
    this.#outlet.release();
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    this.#res.off('close', this.#onClose).off('finish', this.#onFinish);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** Resolves when the last byte is with the socket or the client is gone; throws only before the head is out. */
export const pump = (reply: StreamReply, res: ServerResponse, options: PumpOptions): Promise<Sent> =>
  new Promise((resolve, reject) => {
    new Pump(reply, res, options, resolve, reject).start();
  });
