import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from '../../src/dialects/guard.js';
import type { Usage } from '../../src/core/usage.js';
import { translateStream } from '../../src/dialects/translate-stream.js';
import type { DialectName, Json, RelayHooks } from '../../src/dialects/dialect.js';
import {
  creditFields,
  dialects,
  errorBodies,
  faults,
  goldens,
  type Golden,
  type Replayed,
} from './replay.js';

export const pairs: readonly (readonly [from: DialectName, to: DialectName])[] = [
  ['messages', 'chat'],
  ['messages', 'responses'],
  ['chat', 'messages'],
  ['chat', 'responses'],
  ['responses', 'messages'],
  ['responses', 'chat'],
];

/** Answers with more than one choice have no translation, and no request that is translated asks for them. */
export const translatable = (from: DialectName): readonly Golden[] =>
  goldens.filter(({ dialect, request }) => dialect === from && request?.n === undefined);

export interface TranslateReplay {
  readonly shownModel?: string | null;
  readonly guard?: Guard | null;
  readonly fault?: unknown;
  readonly request?: Json;
  readonly estimatedInputTokens?: number;
}

/** Sends chunks through a translation as the listener would, with ids and a clock that are the same each time. */
export const replayTranslated = async (
  from: DialectName,
  to: DialectName,
  chunks: Iterable<Buffer>,
  options: TranslateReplay = {},
): Promise<Replayed> => {
  let [settled, truncated, firstTokens, minted] = [0, 0, 0, 0];
  let usage: Usage | null = null;
  const hooks: RelayHooks = {
    shownModel: options.shownModel ?? null,
    guard: options.guard ?? null,
    usage: (known) => (usage = known),
    firstToken: () => firstTokens++,
    settle: () => {
      settled++;
      return Promise.resolve(creditFields);
    },
    errorBody: errorBodies[to],
    truncated: () => truncated++,
  };
  const body = {
    model: 'asked-model',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    ...(to === 'chat' && { stream_options: { include_usage: true } }),
    ...options.request,
  };
  const stage = translateStream(from, to, dialects[to].read(body), hooks, {
    newId: (prefix) => `${prefix}_${minted++}`,
    nowMs: () => 1_700_000_000_000,
    estimatedInputTokens: options.estimatedInputTokens ?? 0,
  });
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

export const replayGoldenTranslated = (
  golden: Golden,
  to: DialectName,
  chunks: Iterable<Buffer>,
): Promise<Replayed> =>
  replayTranslated(golden.dialect, to, chunks, {
    shownModel: golden.shownModel ?? null,
    fault: golden.fault && faults[golden.fault],
  });

export const translatedFile = (from: DialectName, to: DialectName): string =>
  join(process.cwd(), 'test/golden/translated', `${from}-to-${to}.sse`);

const HEADING = ': golden ';

/** The streams of one pair, in one file: each begins with a comment that names it. */
export const readTranslated = (from: DialectName, to: DialectName): ReadonlyMap<string, string> => {
  const text = readFileSync(translatedFile(from, to), 'utf8');
  return new Map(
    text
      .split(HEADING)
      .slice(1)
      .map((part): [string, string] => {
        const end = part.indexOf('\n');
        return [part.slice(0, end), part.slice(end + 1)];
      }),
  );
};

export const writeTranslated = (streams: ReadonlyMap<string, string>): string =>
  [...streams].map(([name, text]) => `${HEADING}${name}\n${text}`).join('');
