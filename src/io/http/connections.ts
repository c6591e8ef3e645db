import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Pipelined requests that may wait behind the one being answered; nobody honest sends more. */
const WAITING_BOUND = 16;

interface Connection {
  /** The answer under way, with its request. */
  current: { readonly req: IncomingMessage; readonly res: ServerResponse } | null;
  readonly waiting: { readonly req: IncomingMessage; readonly res: ServerResponse }[];
  /** `bytesRead` when the last exchange ended: more than this means that a request is arriving. */
  quietAt: number;
}

const swallow = (): void => undefined;

/**
 * The open connections and what each is doing. Pipelined requests are handled one after the other, so that a request
 * behind one that closes the connection is never acted upon.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #handle: (req: IncomingMessage, res: ServerResponse) => void;
  #draining = false;
  #onEmpty: (() => void) | null = null;

  constructor(handle: (req: IncomingMessage, res: ServerResponse) => void) {
    this.#handle = handle;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: Socket): void {
    this.#open.set(socket, { current: null, waiting: [], quietAt: socket.bytesRead });
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#onEmpty?.();
    });
  }

  accept(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const connection = this.#open.get(socket);
    if (!connection || connection.waiting.length >= WAITING_BOUND) socket.destroy();
    else if (connection.current) connection.waiting.push({ req, res });
    else this.#begin(socket, connection, req, res);
  }

  /** Whether an answer is under way that a message of ours on the socket would garble. */
  isAnswering(socket: Socket): boolean {
    const current = this.#open.get(socket)?.current;
    return current ? current.res.headersSent || current.req.complete : false;
  }

  /** From here on every answer closes its connection, and those without a request are closed now. */
  startDraining(): void {
    this.#draining = true;
    for (const [socket, { current, quietAt }] of this.#open) {
      if (current) current.res.shouldKeepAlive = false;
      else if (socket.bytesRead === quietAt) socket.destroy();
    }
  }

  closeWithoutRequest(): void {
    for (const [socket, { current }] of this.#open) if (!current) socket.destroy();
  }

  /** Resolves when no connection is left, or after the time; gives the number still open. */
  emptied(withinMs: number): Promise<number> {
    if (this.#open.size === 0) return Promise.resolve(0);
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#onEmpty = null;
        resolve(this.#open.size);
      };
      const timer = setTimeout(settle, withinMs);
      this.#onEmpty = settle;
    });
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #begin(socket: Socket, connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    connection.current = { req, res };
    res.on('error', swallow); // a write that crosses the client's leaving
    res.once('close', () => this.#end(socket, connection, res));
    if (this.#draining) res.shouldKeepAlive = false;
    this.#handle(req, res);
  }

  #end(socket: Socket, connection: Connection, res: ServerResponse): void {
    connection.current = null;
    connection.quietAt = socket.bytesRead;
    if (socket.destroyed || !socket.writable) return;
    if (!res.writableFinished) socket.destroy();
    else if (this.#draining) socket.destroySoon();
    else {
      const next = connection.waiting.shift();
      if (next) this.#begin(socket, connection, next.req, next.res);
    }
  }
}
