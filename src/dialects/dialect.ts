import type { IncomingHttpHeaders } from 'node:http';
import type { Stage } from '../core/exchange.js';
import type { GatewayError } from '../core/errors.js';
import type { UpstreamFlags } from '../core/upstream-flags.js';
import type { Usage } from '../core/usage.js';
import type { Guard } from './guard.js';

export const dialectNames = ['messages', 'responses', 'chat'] as const;

export type DialectName = (typeof dialectNames)[number];

export type Json = Readonly<Record<string, unknown>>;

/** A validated inference request: what the walk acts on, and the body to be forwarded. */
export interface InferenceRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly flaggedCategories: readonly string[];
  /** The body less what only the gateway reads. */
  readonly body: Json;
}

/** The three credit fields of every answer (seed 4.10, 4.11). */
export interface CreditFields {
  readonly remaining_credits: number | null;
  readonly estimated_credits_used: number;
  readonly estimated_cost_usd: number;
}

export interface ForwardOptions {
  readonly upstreamModel: string;
  /** The client's headers, of which a format may pass some on. */
  readonly clientHeaders: IncomingHttpHeaders;
  /** Used where the request gives none and the format requires one. */
  readonly defaultMaxTokens: number;
  /** What the caller may have at most, whatever it asks for; absent = no such bound. */
  readonly mostTokens?: number | undefined;
  /** What is particular to this upstream; absent = as the format says. */
  readonly flags?: Partial<UpstreamFlags>;
}

export interface Forwarded {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a relayed stream tells the walk, and what it asks of it. */
export interface RelayHooks {
  /** The model name the client asked for, where it differs from the upstream's; else null and the bytes stay. */
  readonly shownModel: string | null;
  /** Reads the answer before it leaves; null = nobody does. */
  readonly guard: Guard | null;
  /** Called with the usage known so far, whenever it grows. */
  usage(usage: Usage): void;
  /** Called at the first piece of answer text, reasoning or tool arguments. */
  firstToken(): void;
  /** Another answer in place of one that was stopped before any of it left; null = there is none. Settled already. */
  readonly instead?: () => Promise<Buffer | null>;
  /** Called once, before the terminal event leaves; its fields are written into that event. */
  settle(): Promise<CreditFields>;
  /** The error as the body of the client's family. */
  errorBody(error: GatewayError): Json;
  /** The answer was cut: the stage made an ending of its own. */
  truncated(): void;
  /** The last words of such an answer wait for this, so that nobody is told what is not on record yet. Never rejects. */
  brokenOff?(): Promise<unknown>;
  /** Takes the operator's credentials out of such last words, should the upstream quote them. */
  conceal?(words: string): string;
}

/** A stage that knows at any time what went through it. */
export interface MeteredStage extends Stage {
  readonly usage: Usage;
}

/** One wire format: how a request is read, how an answer of the same format is metered and completed. */
export interface Dialect {
  readonly name: DialectName;
  /** Below the provider's base address. */
  readonly upstreamPath: string;
  /** Throws a GatewayError naming the field. */
  read(body: unknown): InferenceRequest;
  /** The request as bytes for an upstream of this same format. */
  forward(request: InferenceRequest, options: ForwardOptions): Forwarded;
  /** Usage of a whole (non-stream) answer, told or estimated; throws when it is no answer of this format. */
  inspect(answer: Buffer, estimatedInputTokens: number): { readonly usage: Usage };
  /** The whole answer with the credit fields added, every other byte as it came. */
  seal(answer: Buffer, fields: CreditFields, shownModel: string | null): Buffer;
  /** A stream of this format towards a client of this format: original bytes, but for the events that must change. */
  relay(request: InferenceRequest, hooks: RelayHooks, estimatedInputTokens: number): MeteredStage;
}
