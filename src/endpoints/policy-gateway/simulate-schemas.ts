import * as v from 'valibot';
import { decisions } from '../../core/review.js';
import { ConfigSchema } from '../../rules/policy-gateway/config.js';
import { open } from '../../rules/policy-gateway/values.js';
import { text } from '../administration/parse.js';

const MOST_CATEGORIES = 1_000;
const TEXT_CHARACTERS = 1_000_000;

const categoryNames = v.pipe(
  v.array(text(0, 200)),
  v.maxLength(MOST_CATEGORIES, `must have at most ${MOST_CATEGORIES} items.`),
);

/** Seed 4.8, and `text` and `direction` as extensions. */
export const NewSimulation = v.pipe(
  v.looseObject({
    config: v.optional(ConfigSchema),
    policy: v.optional(ConfigSchema),
    scenario: v.optional(
      open({
        categories: v.optional(categoryNames),
        text: v.pipe(
          v.optional(text(0, TEXT_CHARACTERS)),
          v.description('Extension: a text that every rule is to read.'),
        ),
        direction: v.pipe(
          v.optional(v.picklist(['request', 'response'])),
          v.description('Extension: the side the text is on; request where it is absent.'),
        ),
      }),
    ),
    categories: v.optional(categoryNames),
    persist: v.optional(v.boolean()),
  }),
  v.title('NewSimulation'),
);

export type AskedSimulation = v.InferOutput<typeof NewSimulation>;

const decision = v.picklist(decisions);

const SimulatedMatch = v.pipe(
  v.strictObject({
    kind: v.picklist(['category', 'denylist', 'allowlist', 'policy', 'redaction']),
    name: v.string(),
    enforcing: v.boolean(),
    score: v.optional(v.number()),
    policy_name: v.optional(v.string()),
    policy_version: v.optional(v.number()),
    fallback: v.pipe(
      v.optional(v.literal(true)),
      v.description('The judge did not answer: this is what was declared for that case.'),
    ),
    places: v.pipe(
      v.array(v.strictObject({ from: v.number(), to: v.number() })),
      v.description('Where in the text, in UTF-16 units; empty where it is the text as a whole.'),
    ),
  }),
  v.title('SimulatedMatch'),
);

export const Simulation = v.pipe(
  v.strictObject({
    decision,
    reason_code: v.string(),
    triggered_categories: v.array(v.string()),
    rollout_mode: v.picklist(['enforced', 'shadow', 'canary', 'rollback']),
    policy_id: v.string(),
    effective_decision: v.pipe(
      v.optional(decision),
      v.description('Extension, with a text: what would be done to somebody in the sample.'),
    ),
    enforced: v.optional(v.boolean()),
    matches: v.optional(v.array(SimulatedMatch)),
  }),
  v.title('Simulation'),
);
