import type { Scores } from '../../core/review.js';
import { EngineUnavailable, type JudgeOptions } from './engine.js';
import { guardRequest, readGuardAnswer } from './guard-model.js';
import { moderationRequest, readModerations } from './moderations-api.js';

/** Sends one POST; rejects when no answer comes within the time. The room itself opens no connection. */
export type SendRequest = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
  timeoutMs: number,
) => Promise<{ readonly status: number; readonly body: string }>;

export interface HttpEngineOptions {
  /** The whole address: of a moderations service, or of a chat completions endpoint with a guard model behind it. */
  readonly url: string;
  readonly apiKey: string;
  readonly kind: 'moderations' | 'guard';
  readonly timeoutMs: number;
  readonly model?: string;
  readonly request: SendRequest;
}

/** An engine elsewhere: it judges whole texts only. */
export interface RemoteEngine {
  /** Rejects with EngineUnavailable where no verdict can be had. */
  judge(text: string, options?: JudgeOptions): Promise<Scores>;
}

/** Characters of a text that are sent; services refuse much more. */
const TEXT_BOUND = 100_000;

export const createHttpEngine = ({
  url,
  apiKey,
  kind,
  timeoutMs,
  model,
  request,
}: HttpEngineOptions): RemoteEngine => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const [compose, read] =
    kind === 'guard'
      ? ([guardRequest, readGuardAnswer] as const)
      : ([moderationRequest, readModerations] as const);
  return {
    async judge(text, { signal } = {}) {
      const body = JSON.stringify(compose(text.slice(0, TEXT_BOUND), model));
      let answer;
      try {
        answer = await request(url, headers, body, signal, timeoutMs);
      } catch (cause) {
        signal?.throwIfAborted();
        throw new EngineUnavailable('The moderation service does not answer.', cause);
      }
      if (answer.status !== 200)
        throw new EngineUnavailable(`The moderation service answered with status ${answer.status}.`);
      const scores = read(parse(answer.body));
      if (!scores)
        throw new EngineUnavailable('The moderation service answered with something else than a verdict.');
      return scores;
    },
  };
};

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
};
