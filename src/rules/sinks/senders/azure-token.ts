import type { Clock } from '../../../core/clock.js';
import type { OutboundClient, OutboundReply } from '../../../io/outbound/client.js';
import type { AzureConfig } from '../configs.js';
import { held, memberOf, outcomeOfStatus, readJson, retry, type Held, type Retry } from '../outcomes.js';

/** A token, or why there is none. */
export type Token = { readonly kind: 'token'; readonly value: string } | Held | Retry;

const REFRESH_BEFORE_MS = 300_000;

/** Tokens of an application: one at a time is asked for, and it is used until shortly before it runs out. */
export class TokenSource {
  readonly #client: OutboundClient;
  readonly #request: { readonly path: string; readonly body: string };
  readonly #clock: Clock;
  #cached: { readonly value: string; readonly untilMs: number } | null = null;
  #asking: Promise<Token> | null = null;

  constructor(client: OutboundClient, config: AzureConfig, scope: string, clock: Clock) {
    const { tenant_id, client_id, client_secret } = config;
    this.#client = client;
    this.#clock = clock;
    this.#request = {
      path: `/${encodeURIComponent(tenant_id)}/oauth2/v2.0/token`,
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id,
        client_secret,
        scope,
      }).toString(),
    };
  }

  get(signal: AbortSignal): Promise<Token> {
    if (this.#cached && this.#cached.untilMs > this.#clock.ticksMs())
      return Promise.resolve({ kind: 'token', value: this.#cached.value });
    this.#asking ??= this.#ask(signal).finally(() => (this.#asking = null));
    return this.#asking;
  }

  /** The destination did not take this one. */
  forget(value: string): void {
    if (this.#cached?.value === value) this.#cached = null;
  }

  async #ask(signal: AbortSignal): Promise<Token> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const askedMs = this.#clock.ticksMs();
    const reply = await this.#client.send({ method: 'POST', headers, ...this.#request }, signal);
    if (reply.status !== 200) return refusal(reply, this.#clock.nowMs());
    const said = readJson(reply);
    const [value, seconds] = [memberOf(said, 'access_token'), Number(memberOf(said, 'expires_in'))];
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || !(seconds > 0))
      return retry('The reply of the token service cannot be read.');
    const lifeMs = seconds * 1_000;
    this.#cached = { value, untilMs: askedMs + Math.max(lifeMs - REFRESH_BEFORE_MS, lifeMs / 2) };
    return { kind: 'token', value };
  }
}

/** Entra's own numbers say more than its status does. */
const meanings: Readonly<Record<string, string>> = {
  AADSTS70011: 'the scope is invalid',
  AADSTS700016: 'the application is unknown in this tenant',
  AADSTS7000215: 'the client secret is wrong',
  AADSTS7000222: 'the client secret has expired',
  AADSTS90002: 'the tenant is unknown',
  AADSTS900023: 'the tenant is unknown',
};

const refusal = (reply: OutboundReply, nowMs: number): Held | Retry => {
  const number = /\bAADSTS\d{4,8}\b/.exec(reply.body.toString('latin1'))?.[0] ?? '';
  const meaning = Object.hasOwn(meanings, number) ? `: ${meanings[number] ?? ''}` : '';
  const outcome = outcomeOfStatus(reply, nowMs);
  const told = `The token service refuses (HTTP ${reply.status}${number === '' ? '' : `, ${number}`})${meaning}.`;
  return outcome.kind === 'retry' ? { ...outcome, reason: told } : held(told);
};
