import * as v from 'valibot';
import { invalidRequest } from '../core/errors.js';
import { json, type Call, type JsonReply } from '../core/exchange.js';
import { newId } from '../core/ids.js';
import { categories, type Scores } from '../core/review.js';
import type { Engine } from '../rules/moderation/engine.js';

export interface ModerationParts {
  readonly engine: Engine;
  readonly threshold: (category: string) => number;
}

const MOST_INPUTS = 128;
const MODEL = 'sluice-embedded';

const part = v.looseObject({ type: v.string(), text: v.optional(v.string()) });

/** OpenAI's request: one text, several, or parts of which the texts are read. */
export const NewModeration = v.pipe(
  v.looseObject({
    input: v.union([
      v.string(),
      v.pipe(v.array(v.union([v.string(), part])), v.minLength(1), v.maxLength(MOST_INPUTS)),
    ]),
    model: v.optional(v.string()),
  }),
  v.title('NewModeration'),
);

const flags = v.record(v.string(), v.boolean());
const scores = v.record(v.string(), v.number());

export const Moderation = v.pipe(
  v.strictObject({
    id: v.string(),
    model: v.string(),
    results: v.array(v.strictObject({ flagged: v.boolean(), categories: flags, category_scores: scores })),
  }),
  v.title('Moderation'),
);

/** Parts of one array are one input; strings are one each. */
const textsOf = (input: v.InferOutput<typeof NewModeration>['input']): readonly string[] => {
  if (typeof input === 'string') return [input];
  const strings = input.filter((each) => typeof each === 'string');
  if (strings.length === input.length) return strings;
  return [input.map((each) => (typeof each === 'string' ? each : (each.text ?? ''))).join('\n')];
};

/** POST /v1/moderations: the engine for applications, in OpenAI's shape. */
export const createModerations =
  ({ engine, threshold }: ModerationParts) =>
  async (call: Call): Promise<JsonReply> => {
    const parsed = v.safeParse(NewModeration, call.body);
    if (!parsed.success)
      throw invalidRequest('input', 'must be a string, or an array of up to 128 strings or text parts');
    const { input, model = MODEL } = parsed.output;
    const results = [];
    for (const text of textsOf(input))
      results.push(show(await engine.judge(text, { signal: call.signal }), threshold));
    return json({ id: newId('modr'), model, results });
  };

const show = (given: Scores, threshold: (category: string) => number) => {
  const all = categories.map((category) => [category, given.get(category) ?? 0] as const);
  const flagged = all.map(([category, score]) => [category, score >= threshold(category)] as const);
  return {
    flagged: flagged.some(([, hit]) => hit),
    categories: Object.fromEntries(flagged),
    category_scores: Object.fromEntries(all),
  };
};
