import * as v from 'valibot';
import type { Category, Scores } from '../../core/review.js';

const DEFAULT_MODEL = 'llama-guard-3';
const MAX_TOKENS = 32;
/** Sure enough where the model gives no probabilities. */
const CERTAIN = 0.99;

/** The hazards of Llama Guard 3 that have a home here; another number makes text unsafe but names none of our categories. */
const guardCategories: Readonly<Record<string, Category>> = {
  S1: 'illicit',
  S2: 'illicit',
  S3: 'illicit',
  S4: 'sexual/minors',
  S9: 'illicit',
  S10: 'hate',
  S11: 'self-harm',
  S12: 'sexual',
};

const Token = v.object({ token: v.string(), logprob: v.number() });
const Answer = v.object({
  choices: v.pipe(
    v.array(
      v.object({
        message: v.object({ content: v.string() }),
        logprobs: v.nullish(
          v.object({
            content: v.nullish(
              v.array(v.object({ ...Token.entries, top_logprobs: v.optional(v.array(Token), []) })),
            ),
          }),
        ),
      }),
    ),
    v.minLength(1),
  ),
});

type Choice = v.InferOutput<typeof Answer>['choices'][number];

export const guardRequest = (text: string, model = DEFAULT_MODEL): unknown => ({
  model,
  messages: [{ role: 'user', content: text }],
  max_tokens: MAX_TOKENS,
  temperature: 0,
  logprobs: true,
  top_logprobs: 5,
});

/** `safe`, or `unsafe` and a line of hazards. Null where the answer is neither. */
export const readGuardAnswer = (answer: unknown): Scores | null => {
  const read = v.safeParse(Answer, answer);
  if (!read.success) return null;
  const choice = read.output.choices[0]!;
  const [verdict = '', ...rest] = choice.message.content.trim().split('\n');
  const said = verdict.trim().toLowerCase();
  if (said !== 'safe' && said !== 'unsafe') return null;
  const unsafe = unsafeProbability(choice) ?? (said === 'unsafe' ? CERTAIN : 1 - CERTAIN);
  const named = said === 'safe' ? [] : (rest.join(',').match(/S\d+/g) ?? []);
  const homes = Object.values(guardCategories);
  const hit = new Set(named.map((hazard) => guardCategories[hazard]));
  // A safe answer names no hazard: its small probability belongs to each of them.
  return new Map(
    homes.map((category) => [
      category,
      said === 'safe' ? Math.min(0.49, unsafe) : hit.has(category) ? Math.max(0.5, unsafe) : 0,
    ]),
  );
};

/** From the first token that says safe or unsafe, by all the ways it may have gone. */
const unsafeProbability = ({ logprobs }: Choice): number | null => {
  for (const { token, logprob, top_logprobs: others } of logprobs?.content ?? []) {
    if (token.trim() === '') continue;
    const ways = others.length > 0 ? others : [{ token, logprob }];
    const share = (word: string): number =>
      ways
        .filter((way) => way.token.trim() !== '' && word.startsWith(way.token.trim().toLowerCase()))
        .reduce((sum, way) => sum + Math.exp(way.logprob), 0);
    const [unsafe, safe] = [share('unsafe'), share('safe')];
    return unsafe + safe === 0 ? null : unsafe / (unsafe + safe);
  }
  return null;
};
