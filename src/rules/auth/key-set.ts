import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from 'jose';
import { Agent, request } from 'undici';
import type { Clock } from '../../core/clock.js';
import { GatewayError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';

const FETCH_MS = 5_000;
const SET_BYTES = 512 * 1_024;
const REFRESH_MS = 5 * 60_000;
/** After this a set that could not be renewed is no longer trusted. */
const TRUST_MS = 60 * 60_000;
const UNKNOWN_KID_MS = 30_000;
const FAILED_MS = 2_000;

export interface KeySetOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;

/** The public keys at the configured address; what a token says about where its key lies is never read. */
export class RemoteKeySet {
  readonly #url: URL;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #agent = new Agent({ connections: 2, pipelining: 1, connect: { timeout: FETCH_MS } });
  #set: KeySet | null = null;
  #loadedMs = -Infinity;
  #triedMs = -Infinity;
  #pending: Promise<void> | null = null;

  constructor({ url, clock, log }: KeySetOptions) {
    this.#url = new URL(url);
    this.#clock = clock;
    this.#log = log;
  }

  async keyFor(header: JWTHeaderParameters): Promise<CryptoKey> {
    const set = await this.#current();
    try {
      return await set(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.#pending === null && this.#sinceTriedMs() < UNKNOWN_KID_MS) throw error;
    }
    await this.#renew();
    return (await this.#current())(header);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    await this.#pending;
  }

  async #current(): Promise<KeySet> {
    const ageMs = this.#clock.ticksMs() - this.#loadedMs;
    if (ageMs >= TRUST_MS) {
      this.#set = null;
      if (this.#pending !== null || this.#sinceTriedMs() >= FAILED_MS) await this.#renew();
    } else if (ageMs >= REFRESH_MS && this.#sinceTriedMs() >= UNKNOWN_KID_MS) {
      void this.#renew();
    }
    if (this.#set) return this.#set;
    throw new GatewayError('store_unavailable', 'The keys of the token issuer cannot be read. Try again.', {
      retryAfterS: 2,
    });
  }

  #sinceTriedMs(): number {
    return this.#clock.ticksMs() - this.#triedMs;
  }

  /** Never rejects: what was there stays until it is too old. */
  #renew(): Promise<void> {
    this.#pending ??= this.#fetch().then(
      (set) => {
        this.#set = set;
        this.#loadedMs = this.#clock.ticksMs();
        this.#pending = null;
      },
      (error: unknown) => {
        this.#pending = null;
        this.#log.warn({ err: error, host: this.#url.host }, 'The JWKS could not be read.');
      },
    );
    return this.#pending;
  }

  async #fetch(): Promise<KeySet> {
    this.#triedMs = this.#clock.ticksMs();
    const { statusCode, body } = await request(this.#url, {
      dispatcher: this.#agent,
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      headersTimeout: FETCH_MS,
      bodyTimeout: FETCH_MS,
      signal: AbortSignal.timeout(FETCH_MS),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > SET_BYTES) throw new Error(`The JWKS is larger than ${SET_BYTES} bytes.`);
      chunks.push(chunk);
    }
    if (statusCode !== 200) throw new Error(`The JWKS was answered with status ${statusCode}.`);
    return createLocalJWKSet(JSON.parse(Buffer.concat(chunks).toString('utf8')) as JSONWebKeySet);
  }
}
