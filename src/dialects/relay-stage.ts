import { asGatewayError, GatewayError } from '../core/errors.js';
import type { Out } from '../core/exchange.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import { EventTooLarge, FrameScanner } from '../io/sse/scan.js';
import { Splice } from '../io/sse/splice.js';
import { UpstreamFault } from '../io/upstream/provider.js';
import type { CreditFields, MeteredStage, RelayHooks } from './dialect.js';
import { isWhole, unreadable } from './event.js';

/** Where an answer stands: going on, all there, or ended by the upstream's own error. */
export type Standing = 'open' | 'complete' | 'failed';

/** One format's knowledge of one answer under way. `take` passes most frames on and holds the ending back for `close`. */
export interface Track {
  /**
   * Usage known so far. As long as the upstream has not told them, an estimate stands for its input and at least a
   * token for each delta seen for its output.
   */
  readonly usage: Usage;
  /** All that is missing is a formal end, so that a stream that stops here may be completed. */
  readonly closable: boolean;
  take(frame: Frame, out: Splice): Standing;
  /** Set while nothing more is to be read: someone is asked about what was. Then `go` goes on. */
  readonly pending?: Promise<void> | null;
  /** Whether any text has left; absent = as soon as it came. */
  readonly begun?: boolean;
  go?(out: Splice): Standing;
  /** No frame will follow; what was kept back leaves as far as it may. */
  cease?(out: Splice): Standing;
  /** The ending, with the credit fields in it. */
  close(fields: CreditFields, out: Splice): void;
  /** The format's own error, in place of the ending. */
  breakOff(error: GatewayError, out: Splice): void;
}

/** Drives a track: bytes in, frames through it, bytes out, and exactly one ending. */
export class RelayStage implements MeteredStage {
  done = false;
  readonly #track: Track;
  readonly #hooks: RelayHooks;
  readonly #scanner = new FrameScanner();
  readonly #out = new Splice();
  #ending = false;

  constructor(track: Track, hooks: RelayHooks) {
    this.#track = track;
    this.#hooks = hooks;
  }

  get usage(): Usage {
    return this.#track.usage;
  }

  feed(chunk: Buffer): Out {
    if (this.#ending) return null;
    return this.#guarded(() => {
      this.#scanner.push(chunk);
      return this.#readOn();
    });
  }

  /** The last deltas do not wait for the settlement: a client pays for what it was sent. */
  early(): Buffer | null {
    return this.#take();
  }

  end(): Out {
    return this.#stop(
      new GatewayError('provider_error', 'The provider ended its answer before it was complete.'),
    );
  }

  fail(error: unknown): Out {
    return this.#stop(providerFault(error));
  }

  leave(): void {
    if (this.#ending) return;
    this.#cut();
    this.done = true;
  }

  #readOn(): Out {
    for (let frame = this.#scanner.next(); frame !== null; frame = this.#scanner.next()) {
      const standing = this.#track.take(frame, this.#out);
      if (standing !== 'open') return this.#finish(standing);
      if (this.#track.pending) return this.#wait(() => this.#readOn());
    }
    return this.#take();
  }

  /** As long as another answer may take its place, nothing of this one leaves before its first text. */
  #take(): Buffer | null {
    return this.#hooks.instead && this.#track.begun === false ? null : this.#out.take();
  }

  /** Goes on when whoever was asked has answered; what may leave meanwhile leaves. */
  async #wait(then: () => Out): Promise<Buffer | null> {
    while (this.#track.pending) {
      await this.#track.pending;
      if (this.#ending) return null;
      const standing = this.#track.go!(this.#out);
      if (standing !== 'open') return this.#finish(standing);
    }
    return this.#guarded(then);
  }

  #stop(error: GatewayError): Out {
    if (this.#ending) return null;
    return this.#guarded(() => {
      const rest = this.#scanner.rest();
      if (rest && isWhole(rest)) {
        const standing = this.#track.take(rest, this.#out);
        if (standing !== 'open') return this.#finish(standing);
      }
      const standing = this.#track.cease?.(this.#out) ?? 'open';
      if (standing !== 'open') return this.#finish(standing);
      const conclude = (): Out => (this.#track.closable ? this.#finish('complete') : this.#breakOff(error));
      return this.#track.pending ? this.#wait(conclude) : conclude();
    });
  }

  #guarded(read: () => Out): Out {
    try {
      return read();
    } catch (fault) {
      const standing = this.#track.cease?.(this.#out) ?? 'open';
      return standing === 'complete' ? this.#finish(standing) : this.#breakOff(readingFault(fault));
    }
  }

  #finish(standing: 'complete' | 'failed'): Out {
    this.#ending = true;
    if (standing === 'complete') {
      this.#hooks.usage(this.#track.usage);
      return this.#close();
    }
    this.#cut();
    const last = this.#out.take();
    return this.#endWith(() => last);
  }

  async #close(): Promise<Buffer | null> {
    try {
      const other = this.#track.begun === false ? await this.#hooks.instead?.() : null;
      if (other) {
        this.done = true;
        return other;
      }
      this.#track.close(await this.#hooks.settle(), this.#out);
    } catch (error) {
      this.#cut();
      this.#track.breakOff(asGatewayError(error), this.#out);
    }
    this.done = true;
    return this.#out.take();
  }

  #breakOff(error: GatewayError): Promise<Buffer | null> {
    this.#cut();
    return this.#endWith(() => {
      this.#track.breakOff(error, this.#out);
      return this.#out.take();
    });
  }

  async #endWith(last: () => Buffer | null): Promise<Buffer | null> {
    await this.#hooks.brokenOff?.();
    this.done = true;
    const words = last();
    const shown = words && this.#hooks.conceal?.(words.toString('latin1'));
    return shown ? Buffer.from(shown, 'latin1') : words;
  }

  #cut(): void {
    this.#ending = true;
    this.#hooks.usage(this.#track.usage);
    this.#hooks.truncated();
  }
}

const readingFault = (error: unknown): GatewayError =>
  error instanceof EventTooLarge ? unreadable(error.message, error) : asGatewayError(error);

const providerFault = (cause: unknown): GatewayError => {
  if (cause instanceof GatewayError) return cause;
  if (cause instanceof UpstreamFault && cause.kind === 'timeout')
    return new GatewayError('provider_timeout', 'The provider stopped in the middle of its answer.', {
      cause,
    });
  return new GatewayError('provider_error', 'The provider broke off in the middle of its answer.', { cause });
};
