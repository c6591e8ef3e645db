import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { EventContent } from './audit.js';
import type { Log } from './log.js';
import type { Permission, Principal } from './principal.js';
import type { Judgement } from './review.js';
import { noUsage, type Price, type Usage } from './usage.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** How an error is spelt on this part of the API (seed 7). */
export type Family = 'administration' | 'messages' | 'count_tokens' | 'responses' | 'openai';

/** Which credential a route takes (seed 5). */
export type AuthRule =
  | 'public'
  | 'admin' // administrator key
  | 'gateway' // JWT, project key or administrator key
  | 'inference' // JWT or project key
  | 'inference_or_free' // the same, or the one anonymous free request
  | 'project_key'; // project key only, never a JWT

/** Which set of limits an attempt counts against; `none` for probes and documents. */
export type LimitFamily = 'inference' | 'count_tokens' | 'admin' | 'credits' | 'reads' | 'none';

/** One row of the API. */
export interface Route {
  /** Stable name: metrics label, OpenAPI operationId, log field. */
  readonly operation: string;
  readonly method: Method;
  /** `/v1/organization/policies/{policy_id}`; a last segment `*` takes the rest of the path. */
  readonly path: string;
  readonly family: Family;
  readonly auth: AuthRule;
  readonly permission: Permission | null;
  /** `raw` leaves the body unread, for tunnels. */
  readonly body: 'json' | 'raw' | 'none';
  /** Largest request body in bytes. */
  readonly bodyBytes: number;
  readonly limits: LimitFamily;
  /** What an attempt will take, estimated from the parsed body before admission. */
  readonly demand?: (body: unknown, bytes: number) => Demand;
  readonly handle: (call: Call) => Promise<Reply>;
  /** How the OpenAPI document tells of it; a row without one is left out. */
  readonly doc?: OperationDoc;
}

/** A valibot schema or plain JSON Schema: core knows neither. One with a title becomes a component of that name. */
export type DocSchema = object;

/** What the OpenAPI document says of an operation beyond what its row says already. */
export interface OperationDoc {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Not in the contract, but its users need it (D12). */
  readonly extension?: boolean;
  /** Takes an `Idempotency-Key` (D10). */
  readonly replayable?: boolean;
  readonly query?: Readonly<Record<string, QueryDoc>>;
  readonly headers?: Readonly<Record<string, QueryDoc>>;
  readonly body?: DocSchema;
  /** What a success looks like, by media type. */
  readonly answer: Readonly<Record<string, DocSchema>>;
  /** Statuses beyond those that follow from the row: its credential, permission, body, path and limits. */
  readonly statuses?: readonly number[];
}

export interface QueryDoc {
  readonly about: string;
  readonly schema: DocSchema;
  readonly required?: boolean;
}

/** One request on its walk, as a handler sees it. */
export interface Call {
  readonly requestId: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly clientAddress: string;
  readonly receivedMs: number;
  readonly principal: Principal;
  /** The parsed JSON body; undefined where the route takes none. */
  readonly body: unknown;
  /** Aborts when the client leaves or the gateway stops. */
  readonly signal: AbortSignal;
  readonly meter: Meter;
  readonly lease: Lease;
  readonly log: Log;
}

/** What is learnt on the way, for settlement, the log line, metrics and the audit event. Handlers write it, `serve` reads it. */
export interface Meter {
  model: string | null;
  provider: string | null;
  /** Of the target that answers; null before there is one. */
  price: Price | null;
  usage: Usage;
  /** Of an answer under way: its usage up to now, for whoever must know before the end; null = `usage` is all. */
  live: (() => Usage) | null;
  costUsd: number;
  credits: number;
  /** The upstream took the request; from here on it may cost something. */
  upstreamReached: boolean;
  /** Time spent waiting for the upstream's first byte. */
  upstreamWaitMs: number;
  /** From the request's arrival to the first answer text; null before. */
  firstTokenMs: number | null;
  /** The answer ended before its proper end. */
  truncated: boolean;
  /** What was decided about it; null = nobody was asked. */
  judgement: Judgement | null;
  /** What was said up to now, for its event; null = that is not kept. */
  content: (() => EventContent) | null;
}

export const freshMeter = (): Meter => ({
  model: null,
  provider: null,
  price: null,
  usage: noUsage,
  live: null,
  costUsd: 0,
  credits: 0,
  upstreamReached: false,
  upstreamWaitMs: 0,
  firstTokenMs: null,
  truncated: false,
  judgement: null,
  content: null,
});

/** What an attempt asks the limiter for. */
export interface Demand {
  readonly model: string | null;
  readonly inputTokens: number;
  /** Of each answer. */
  readonly outputTokens: number;
  /** How many are asked for; absent = one. */
  readonly answers?: number;
  /** Of a road that has no model to ask for its price. */
  readonly price?: Price;
}

export const noDemand: Demand = { model: null, inputTokens: 0, outputTokens: 0 };

/** What an exchange really took. */
export interface Spent {
  readonly usage: Usage;
  readonly costUsd: number;
  readonly credits: number;
}

export interface Settlement {
  /** The balance after the call; null when the organization is not metered. */
  readonly remainingCredits: number | null;
}

/** An admitted request. `settle` acts once; later calls give the first answer. */
export interface Lease {
  /** Rate-limit headers of the reply (seed 8.4). */
  readonly headers: Readonly<Record<string, string>>;
  settle(spent: Spent): Promise<Settlement>;
}

/** Takes every limit of the call's scopes in one step, or throws the error that says which one is full. */
export type Admit = (call: Omit<Call, 'lease'>, demand: Demand) => Promise<Lease>;

/** A value: only `io/http/reply.ts` touches the socket. */
export type Reply = JsonReply | BytesReply | StreamReply | TunnelReply;

type Headers = Readonly<Record<string, string>>;

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly headers?: Headers;
  readonly body: unknown;
}

export interface BytesReply {
  readonly kind: 'bytes';
  readonly status: number;
  readonly headers?: Headers;
  readonly contentType: string;
  readonly body: Buffer | string;
}

export interface StreamReply {
  readonly kind: 'stream';
  readonly status: number;
  readonly headers?: Headers;
  /** The upstream's bytes; destroyed by whoever sends the reply, however it ends. */
  readonly source: Readable;
  readonly stage: Stage;
  /** Sent when nothing else was for a while; null = never. */
  readonly heartbeat: { readonly bytes: Buffer; readonly everyMs: number } | null;
}

/** The connection is handed to another pump (http-proxy-3). Resolves when the exchange is over. */
export interface TunnelReply {
  readonly kind: 'tunnel';
  readonly open: (req: IncomingMessage, res: ServerResponse, headers: Headers) => Promise<void>;
}

/**
 * What stands between the upstream's bytes and the client's. Bytes in, bytes out; null = nothing to send yet.
 * A promise pauses the upstream until it settles. Once `done` is true nothing more is read.
 */
export interface Stage {
  readonly done: boolean;
  feed(chunk: Buffer): Out;
  /** What may leave while a promise of `feed` is pending; its bytes come after these. */
  early(): Buffer | null;
  /** The upstream ended cleanly. */
  end(): Out;
  /** The upstream failed, or the gateway stops: gives the ending of the client's format. */
  fail(error: unknown): Out;
  /** The client left: what it had got by then is all it pays for. */
  leave(): void;
}

export type Out = Buffer | null | Promise<Buffer | null>;

/** How the sending of a reply ended. */
export type Delivery = 'complete' | 'client_left' | 'upstream_failed';

export const json = (body: unknown, status = 200, headers: Headers = {}): JsonReply => ({
  kind: 'json',
  status,
  headers,
  body,
});
