import type { Readable } from 'node:stream';
import { answerHeaders, retryAfterS, type Given } from './headers.js';
import { readStart } from './read-whole.js';

const BODY_BOUND_BYTES = 65_536;
const BODY_BOUND_MS = 2_000;

/** A provider answered, but not with success. Its body is for reading the message, not for showing as it is. */
export class UpstreamRejection extends Error {
  readonly status: number;
  /** What a client may see of its headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retryAfterS: number | null;
  /** Private, so that whoever logs the error does not log what the provider wrote. */
  readonly #body: string;

  constructor(status: number, given: Given, body: string, nowMs: number) {
    super(`The provider answered with status ${status}.`);
    this.name = 'UpstreamRejection';
    this.status = status;
    this.headers = answerHeaders(given);
    this.retryAfterS = retryAfterS(given, nowMs);
    this.#body = body;
  }

  /** At most 64 KiB. */
  get body(): string {
    return this.#body;
  }
}

const asItIs = (words: string): string => words;

/** Reads what the provider had to say, a little and not for long, and frees its connection. */
export const readRejection = async (
  answer: { readonly status: number; readonly headers: Given; readonly body: Readable },
  nowMs: number,
  conceal: (words: string) => string = asItIs,
): Promise<UpstreamRejection> =>
  new UpstreamRejection(
    answer.status,
    answer.headers,
    conceal(await readStart(answer.body, BODY_BOUND_BYTES, BODY_BOUND_MS)),
    nowMs,
  );
