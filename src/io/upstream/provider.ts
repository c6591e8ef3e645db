import type { Readable } from 'node:stream';

export type ProviderKind = 'simulator' | 'anthropic' | 'openai_chat' | 'openai_responses';

/** One call to an upstream. The path is relative to the provider's base address; credentials are the provider's own affair. */
export interface UpstreamRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to its end or destroyed: a body left alone holds its connection. */
  readonly body: Readable;
}

/**
 * Something that answers inference calls. `send` is one attempt: it resolves once the first byte of the body (or its
 * end) is there, whatever the status, and throws an UpstreamFault when no answer came.
 */
export interface Provider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly attempts: number;
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Takes its credentials out of its own words, should it quote them; absent = it has none. */
  conceal?(words: string): string;
  close(): Promise<void>;
}

/** Why no answer came. `aborted`: the caller's own signal. */
export type FaultKind = 'connect' | 'timeout' | 'reset' | 'unreadable' | 'aborted';

export class UpstreamFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UpstreamFault';
    this.kind = kind;
  }
}
