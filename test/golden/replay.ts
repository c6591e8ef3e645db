import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayError } from '../../src/core/errors.js';
import type { Guard } from '../../src/dialects/guard.js';
import type { Usage } from '../../src/core/usage.js';
import { chatDialect } from '../../src/dialects/chat/dialect.js';
import type { CreditFields, Dialect, DialectName, Json, RelayHooks } from '../../src/dialects/dialect.js';
import { messagesDialect } from '../../src/dialects/messages/dialect.js';
import { responsesDialect } from '../../src/dialects/responses/dialect.js';
import { UpstreamFault } from '../../src/io/upstream/provider.js';

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  messages: messagesDialect,
  chat: chatDialect,
  responses: responsesDialect,
};

/** A stream as an upstream sent it, beside the stream a client must get. */
export interface Golden {
  readonly dialect: DialectName;
  readonly name: string;
  readonly says: string;
  readonly ending: 'complete' | 'truncated';
  readonly usage: Usage;
  readonly request?: Json;
  readonly shownModel?: string;
  /** How the upstream's connection ended; absent = cleanly. */
  readonly fault?: 'reset' | 'timeout';
  readonly firstToken?: boolean;
}

const folder = join(process.cwd(), 'test/golden');

export const goldens = JSON.parse(readFileSync(join(folder, 'goldens.json'), 'utf8')) as readonly Golden[];

export const goldenBytes = (golden: Golden, side: 'in' | 'out'): Buffer =>
  readFileSync(join(folder, golden.dialect, `${golden.name}.${side}.sse`));

export const creditFields: CreditFields = {
  remaining_credits: 99_988,
  estimated_credits_used: 12,
  estimated_cost_usd: 0.00117,
};

export interface Replayed {
  readonly output: Buffer;
  readonly done: boolean;
  readonly settled: number;
  readonly truncated: number;
  readonly firstTokens: number;
  readonly usage: Usage | null;
}

export interface ReplayOptions {
  readonly request?: Json;
  readonly shownModel?: string | null;
  readonly guard?: Guard | null;
  readonly fault?: unknown;
  readonly estimatedInputTokens?: number;
  readonly settle?: () => Promise<CreditFields>;
}

export const errorBodies: Readonly<Record<DialectName, (error: GatewayError) => Json>> = {
  messages: ({ message, code }) => ({ type: 'error', error: { type: 'api_error', message, code } }),
  chat: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  responses: ({ message, code }) => ({ error: message, code, request_id: 'req_1' }),
};

/** Sends chunks through a dialect's relay as the listener would, to the end of the upstream or of the answer. */
export const replay = async (
  dialect: DialectName,
  chunks: Iterable<Buffer>,
  options: ReplayOptions = {},
): Promise<Replayed> => {
  let [settled, truncated, firstTokens] = [0, 0, 0];
  let usage: Usage | null = null;
  const hooks: RelayHooks = {
    shownModel: options.shownModel ?? null,
    guard: options.guard ?? null,
    usage: (known) => (usage = known),
    firstToken: () => firstTokens++,
    settle: async () => {
      settled++;
      return options.settle ? await options.settle() : creditFields;
    },
    errorBody: errorBodies[dialect],
    truncated: () => truncated++,
  };
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true, ...options.request };
  const { estimatedInputTokens = 0 } = options;
  const stage = dialects[dialect].relay(dialects[dialect].read(body), hooks, estimatedInputTokens);
  const pieces: Buffer[] = [];
  const keep = (bytes: Buffer | null): void => {
    if (bytes) pieces.push(Buffer.from(bytes));
  };
  for (const chunk of chunks) {
    if (stage.done) break;
    keep(await stage.feed(chunk));
  }
  if (!stage.done) keep(await (options.fault === undefined ? stage.end() : stage.fail(options.fault)));
  return { output: Buffer.concat(pieces), done: stage.done, settled, truncated, firstTokens, usage };
};

export const faults = {
  reset: new UpstreamFault('reset', 'socket hang up'),
  timeout: new UpstreamFault('timeout', 'nothing for a while'),
};

export const replayGolden = (
  golden: Golden,
  chunks: Iterable<Buffer>,
  guard: Guard | null = null,
): Promise<Replayed> =>
  replay(golden.dialect, chunks, {
    guard,
    ...(golden.request && { request: golden.request }),
    shownModel: golden.shownModel ?? null,
    fault: golden.fault && faults[golden.fault],
  });

/** Cuts bytes behind each of the given lengths, beginning anew until all is cut. */
export const cutInto = (bytes: Buffer, lengths: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] ?? bytes.length;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
};
