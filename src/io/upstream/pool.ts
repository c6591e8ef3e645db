import type { EventEmitter } from 'node:events';
import { Client } from 'undici';
import { createConnector, type ConnectorOptions } from './connector.js';

export interface PoolOptions extends ConnectorOptions {
  /** Calls beyond it wait for a connection, in order. */
  readonly maxConnections: number;
}

/** Takes a connection; must give it back with `free`. */
type Use = (client: Client) => void;

const MAX_HEADER_BYTES = 32_768;
/** Below the 5 s after which common model servers close a silent connection without having said so. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;

/**
 * Connections to one provider, one call at a time on each. Not undici's own pool: that one connects anew after every
 * call that was broken off, for ever when a proxy hangs up, and cannot take back a call that waits.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #connect: ReturnType<typeof createConnector>;
  /** The last one used is used next, so that those not needed fall silent and close. */
  readonly #idle: Client[] = [];
  readonly #waiting = new Set<Use>();
  #busy = 0;
  #closed: { readonly done: Promise<void>; readonly resolve: () => void } | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#connect = createConnector(options);
  }

  /** Calls `use` with a connection, at once or when one is free. Gives a way to stop waiting; throws once closed. */
  take(use: Use): () => void {
    if (this.#closed) throw new Error('The provider is closed.');
    if (this.#idle.length === 0 && this.#busy >= this.#options.maxConnections) {
      this.#waiting.add(use);
      return () => this.#waiting.delete(use);
    }
    this.#busy++;
    use(this.#idle.pop() ?? this.#create());
    return () => {};
  }

  /** Gives a connection back after its call; one whose call was broken off is destroyed. */
  free(client: Client, reusable: boolean): void {
    if (!reusable) {
      destroy(client);
      this.#pass(null);
    }
    // A turn later: what a provider sends beyond its answer is noticed first, and the connection dropped.
    else setImmediate(() => this.#pass(client));
  }

  /** Takes no new call, lets those under way finish, and leaves no connection. */
  close(): Promise<void> {
    if (!this.#closed) {
      let resolve = (): void => {};
      const done = new Promise<void>((settle) => (resolve = settle));
      this.#closed = { done, resolve };
      this.#settle();
    }
    return this.#closed.done;
  }

  #pass(client: Client | null): void {
    const kept = client?.stats.connected ? client : null;
    if (client && !kept) destroy(client);
    for (const use of this.#waiting) {
      this.#waiting.delete(use);
      use(kept ?? this.#create());
      return;
    }
    this.#busy--;
    if (kept) this.#idle.push(kept);
    this.#settle();
  }

  #settle(): void {
    if (!this.#closed || this.#busy > 0) return;
    const { resolve } = this.#closed;
    void Promise.all(this.#idle.splice(0).map((client) => client.destroy())).then(resolve, resolve);
  }

  #create(): Client {
    const client = new Client(this.#options.origin, {
      pipelining: 1,
      allowH2: false,
      // `dispatch` times the waiting; undici's own 300 s would cut a long answer.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      connect: (_, callback) =>
        this.#connect((error, socket) => {
          if (socket) callback(null, socket);
          else callback(error ?? new Error('No connection was made.'), null);
        }),
    });
    (client as EventEmitter).on('error', () => {});
    return client.on('disconnect', () => {
      const place = this.#idle.indexOf(client);
      if (place >= 0) destroy(...this.#idle.splice(place, 1));
    });
  }
}

const destroy = (...clients: readonly Client[]): void => {
  for (const client of clients) client.destroy(() => {});
};
