import { Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { aborted, asFault, timedOut, unreadable } from './faults.js';
import type { Pool } from './pool.js';
import type { UpstreamAnswer } from './provider.js';

export interface Timeouts {
  readonly connectMs: number;
  /** From the call to the first byte of the body, the wait for a connection included. */
  readonly firstByteMs: number;
  /** Longest silence inside a body that is being read. */
  readonly idleMs: number;
  readonly totalMs: number;
}

const MAX_INFORMATIONAL = 10;
const BODY_BUFFER_BYTES = 65_536;

/** One request on the wire. Resolves once the first byte of the body, or its end, is there. */
export const dispatch = (
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  timeouts: Timeouts,
  signal: AbortSignal,
): Promise<UpstreamAnswer> => {
  if (signal.aborted) return Promise.reject(aborted());
  return new Promise((resolve, reject) => {
    new Exchange({ pool, timeouts, signal, resolve, reject }).start(request);
  });
};

interface ExchangeParts {
  readonly pool: Pool;
  readonly resolve: (answer: UpstreamAnswer) => void;
  readonly reject: (fault: Error) => void;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal;
}

/** undici's view of a request, and the body's view of undici. Ends once, by whichever side is first. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts;
  readonly #total: NodeJS.Timeout;
  /** First for the first byte, then for the silence between bytes. */
  #silence: NodeJS.Timeout;
  #stopWaiting: (() => void) | null = null;
  #client: Client | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #body: AnswerBody | null = null;
  #head: Pick<UpstreamAnswer, 'status' | 'headers'> | null = null;
  #informational = 0;
  #answered = false;
  #over = false;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    const { firstByteMs, totalMs } = parts.timeouts;
    this.#silence = setTimeout(() => this.#fail(timedOut('first_byte')), firstByteMs);
    this.#total = setTimeout(() => this.#fail(timedOut('total')), totalMs);
    parts.signal.addEventListener('abort', this.#abort, { once: true });
  }

  start(request: Dispatcher.DispatchOptions): void {
    try {
      this.#stopWaiting = this.#parts.pool.take((client) => {
        this.#client = client;
        client.dispatch(request, this);
      });
    } catch (error) {
      this.#fail(asFault(error as Error, false));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(_: unknown, status: number, headers: UpstreamAnswer['headers']): void {
    if (status < 200) {
      if (++this.#informational > MAX_INFORMATIONAL)
        this.#fail(unreadable('The provider sent too many informational replies.'));
      return;
    }
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      this.#fail(unreadable('The provider compressed its answer although it was asked not to.'));
      return;
    }
    this.#head = { status, headers };
    this.#body = new AnswerBody(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (!this.#answered) this.#answer();
    this.#silence.refresh();
    if (!this.#body!.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (!this.#answered) this.#answer();
    this.#finish(true);
    this.#body!.push(null);
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(
      (error as { code?: unknown }).code === 'UND_ERR_INVALID_ARG'
        ? error // a request that cannot be written is our own mistake, not the provider's
        : asFault(error, this.#controller !== null),
    );
  }

  /** The body has room again. */
  resume(): void {
    if (this.#over || !this.#controller?.paused) return;
    this.#silence.refresh();
    this.#controller.resume();
  }

  /** Nobody wants the rest: the connection is closed rather than read to the end. */
  leave(): void {
    if (!this.#over) this.#finish(false);
  }

  readonly #abort = (): void => this.#fail(aborted());

  #answer(): void {
    this.#answered = true;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      // A reader that takes its time is no fault of the provider; `resume` starts the clock again.
      if (!this.#controller?.paused) this.#fail(timedOut('idle'));
    }, this.#parts.timeouts.idleMs);
    this.#parts.resolve({ ...this.#head!, body: this.#body! });
  }

  #fail(fault: Error): void {
    if (this.#over) return;
    this.#finish(false);
    if (this.#answered) this.#body!.destroy(fault);
    else this.#parts.reject(fault);
  }

  #finish(reusable: boolean): void {
    this.#over = true;
    if (this.#client) this.#parts.pool.free(this.#client, reusable);
    else this.#stopWaiting?.();
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    this.#parts.signal.removeEventListener('abort', this.#abort);
  }
}

class AnswerBody extends Readable {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    super({ highWaterMark: BODY_BUFFER_BYTES });
    this.#exchange = exchange;
    this.on('error', () => {}); // a fault may come before the reader does
  }

  override _read(): void {
    this.#exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#exchange.leave();
    callback(error);
  }
}
