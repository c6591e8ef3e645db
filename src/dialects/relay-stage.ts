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
  /** Usage known so far; as long as the upstream has not told its final count, at least a token for each delta seen. */
  readonly usage: Usage;
  /** All that is missing is a formal end, so that a stream that stops here may be completed. */
  readonly closable: boolean;
  take(frame: Frame, out: Splice): Standing;
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
    try {
      this.#scanner.push(chunk);
      for (let frame = this.#scanner.next(); frame !== null; frame = this.#scanner.next()) {
        const standing = this.#track.take(frame, this.#out);
        if (standing !== 'open') return this.#finish(standing);
      }
    } catch (error) {
      return this.#breakOff(readingFault(error));
    }
    return this.#out.take();
  }

  /** The last deltas do not wait for the settlement: a client pays for what it was sent. */
  early(): Buffer | null {
    return this.#out.take();
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
    if (!this.#ending) this.#cut();
  }

  #stop(error: GatewayError): Out {
    if (this.#ending) return null;
    try {
      const rest = this.#scanner.rest();
      if (rest && isWhole(rest)) {
        const standing = this.#track.take(rest, this.#out);
        if (standing !== 'open') return this.#finish(standing);
      }
    } catch (fault) {
      return this.#breakOff(readingFault(fault));
    }
    return this.#track.closable ? this.#finish('complete') : this.#breakOff(error);
  }

  #finish(standing: 'complete' | 'failed'): Out {
    this.#ending = true;
    if (standing === 'complete') {
      this.#hooks.usage(this.#track.usage);
      return this.#close();
    }
    this.#cut();
    return this.#out.take();
  }

  async #close(): Promise<Buffer | null> {
    try {
      this.#track.close(await this.#hooks.settle(), this.#out);
    } catch (error) {
      return this.#breakOff(asGatewayError(error));
    }
    this.done = true;
    return this.#out.take();
  }

  #breakOff(error: GatewayError): Buffer | null {
    this.#cut();
    this.#track.breakOff(error, this.#out);
    return this.#out.take();
  }

  #cut(): void {
    this.#ending = true;
    this.done = true;
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
