import type { ServerResponse } from 'node:http';

/** What goes to the socket in one piece: the unit in which a slow reader's progress can be seen. */
export const SLICE_BYTES = 65_536;

/** The way out to one client: keeps no more than a slice in flight and notices a reader that has stopped. */
export class Outlet {
  /** Bytes handed to the socket. */
  bytes = 0;
  readonly #res: ServerResponse;
  readonly #stallMs: number;
  readonly #onRoom: () => void;
  #waiting: Buffer[] = [];
  #blocked = false;
  #ending = false;
  #released = false;
  #stall: NodeJS.Timeout | null = null;

  /** `onRoom` is called whenever a blocked outlet has sent all it held. */
  constructor(res: ServerResponse, stallMs: number, onRoom: () => void) {
    this.#res = res;
    this.#stallMs = stallMs;
    this.#onRoom = onRoom;
    res.on('drain', this.#onDrain);
  }

  /** While true, whoever feeds the outlet should wait. */
  get blocked(): boolean {
    return this.#blocked;
  }

  send(bytes: Buffer): void {
    if (this.#blocked || bytes.length > SLICE_BYTES) {
      this.#waiting.push(bytes);
      if (!this.#blocked) this.#pour();
    } else this.#write(bytes);
  }

  /** Ends the response once all is sent. */
  end(): void {
    if (this.#released) return;
    this.#ending = true;
    if (!this.#blocked) this.#finish();
  }

  /** Forgets the response; must be called once, however the exchange ended. */
  release(): void {
    this.#released = true;
    this.#res.off('drain', this.#onDrain);
    this.#waiting = [];
    if (this.#stall) clearTimeout(this.#stall);
  }

  #write(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (!this.#res.write(bytes)) {
      this.#blocked = true;
      this.#watchReader();
    }
  }

  #pour(): void {
    for (let bytes = this.#waiting[0]; bytes && !this.#blocked; bytes = this.#waiting[0]) {
      if (bytes.length > SLICE_BYTES) this.#waiting[0] = bytes.subarray(SLICE_BYTES);
      else this.#waiting.shift();
      this.#write(bytes.length > SLICE_BYTES ? bytes.subarray(0, SLICE_BYTES) : bytes);
    }
  }

  readonly #onDrain = (): void => {
    this.#blocked = false;
    this.#pour();
    if (this.blocked) return;
    if (this.#ending) this.#finish();
    else this.#onRoom();
  };

  #finish(): void {
    this.#watchReader();
    this.#res.end();
  }

  /** One timer for the whole exchange: it only ever acts when it fires while the reader is still awaited. */
  #watchReader(): void {
    if (this.#stall) this.#stall.refresh();
    else
      this.#stall = setTimeout(() => {
        if (this.#blocked || this.#ending) this.#res.destroy();
      }, this.#stallMs);
  }
}
