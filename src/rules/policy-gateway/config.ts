import * as v from 'valibot';
import { invalidParameter } from '../../core/errors.js';
import { decisions, nameable, type Decision } from '../../core/review.js';
import { amount, open, setting, text, whole, word, words } from './values.js';

const MOST_TERMS = 100_000;
const TERM_CHARACTERS = 200;

const NAME_CHARACTERS = 200;
const MOST_TARGETS = 1_000;
const MOST_REASON_CODES = 100;
const REASON_CODE_CHARACTERS = 100;
const MOST_WINDOW_MINUTES = 1_440;
const MOST_COOLDOWN_MINUTES = 10_080;

/** What may happen to an exchange instead of its answer, and by which words it may be asked for (D18). */
const modeWords = {
  refuse: 'refuse',
  block: 'refuse',
  rewrite: 'rewrite',
  summary: 'summary',
  summarize: 'summary',
  escalate: 'escalate',
} as const satisfies Record<string, Exclude<Decision, 'allow'>>;

export type ModeWord = keyof typeof modeWords;

const isModeWord = (word: string): word is ModeWord => Object.hasOwn(modeWords, word);

const flag = (about: string) => setting(about, v.boolean(), false);
const line = (about: string, max = NAME_CHARACTERS) => setting(about, text(max), '');
const list = (about: string, most: number, max: number) => setting(about, words(most, max), []);
const count = (about: string) => setting(about, whole(0, Number.MAX_SAFE_INTEGER), 0);

const quota = open({
  requests: count('Most requests in a window; 0 = no bound.'),
  tokens: count('Most input and output tokens in a window; 0 = no bound.'),
  window: setting(
    'UTC calendar: days, weeks from Monday, months.',
    v.picklist(['daily', 'weekly', 'monthly']),
    'daily',
  ),
});

const sample = open({
  enabled: flag('Whether it is on.'),
  sample_percent: setting('Share of the subjects; the same ones every time.', amount(0, 100), 100),
  targets: list(
    'Policy targets, project ids or models it is about; none = all.',
    MOST_TARGETS,
    NAME_CHARACTERS,
  ),
});

const rules = open({
  allowlist: list(
    'With any term here, the last user turn must contain one of them.',
    MOST_TERMS,
    TERM_CHARACTERS,
  ),
  denylist: list('Any of these terms fires.', MOST_TERMS, TERM_CHARACTERS),
  redact: flag('Whether personal data and secrets are masked, in both directions.'),
  rewrite_instead_of_refuse: flag('Turns a refusal of this configuration into a rewrite.'),
  response_pattern: line(
    'A mode word, for where refusal_replacement.mode is absent; other words mean nothing.',
  ),
  reason_codes: list(
    'The only reason codes to be shown; none = the built-in ones.',
    MOST_REASON_CODES,
    REASON_CODE_CHARACTERS,
  ),
  flagged_categories: setting(
    'Categories that fire; one covers those below it.',
    v.array(v.picklist(nameable)),
    [],
  ),
});

const orgControls = open({
  project_keys: flag('Whether a key must belong to the project that X-Policy-Project names.'),
  user_quotas: flag('Whether user_quota acts.'),
  audit_logs: flag('Whether nothing is served that the audit trail has no room for.'),
  data_classification: line('Copied into every event.'),
  user_quota: setting('Of each X-Policy-User, or key where there is none.', quota, {}),
  project_quota: setting('Of each project.', quota, {}),
});

const rollout = open({
  shadow: setting('Decides and records for a sample; never enforces.', sample, {}),
  canary: setting('Enforces for a sample; decides and records for all.', sample, {}),
  rollback_on_spike: flag('Whether enforcement stops when too many requests are hit.'),
  rollback_threshold: setting('A greater share of hits is too much.', amount(0, 1), 0.25),
  rollback_min_requests: setting(
    'Decided requests before a share means anything.',
    whole(1, Number.MAX_SAFE_INTEGER),
    20,
  ),
  rollback_window_minutes: setting('Over how long the share is taken.', whole(1, MOST_WINDOW_MINUTES), 15),
  rollback_cooldown_minutes: setting('How long enforcement stays off.', amount(0, MOST_COOLDOWN_MINUTES), 30),
  rollback_decisions: setting('Decisions that count as a hit.', v.array(v.picklist(decisions)), [
    'refuse',
    'escalate',
  ]),
});

const replacement = open({
  mode: v.pipe(
    v.optional(v.picklist(Object.keys(modeWords) as ModeWord[])),
    v.description('What happens when something fires; absent = response_pattern, else refuse.'),
  ),
  escalation_path: line('Shown with an escalation: whom to ask.', 2_000),
});

/** Seed 2.7: everything is optional (D17). */
export const ConfigSchema = v.pipe(
  open({
    policy_id: setting(
      'Names the configuration in events, and decides who is in a sample.',
      word(NAME_CHARACTERS),
      'default',
    ),
    name: line('For people.'),
    owner: line('Who answers for it.'),
    description: line('For people.', 10_000),
    rules: setting('What fires, and what is masked.', rules, {}),
    org_controls: setting('Who may do how much.', orgControls, {}),
    rollout: setting('Whether the configuration acts, and on whom.', rollout, {}),
    refusal_replacement: setting('What happens instead of a refusal.', replacement, {}),
  }),
  v.title('GatewayConfig'),
);

export type ConfigInput = v.InferInput<typeof ConfigSchema>;

type Parsed = v.InferOutput<typeof ConfigSchema>;

/** A configuration without gaps. */
export type GatewayConfig = Parsed & { readonly refusal_replacement: { readonly mode: ModeWord } };

/** The mode has no default of its own in the schema: the other place that may name one comes first (D18). */
export const fillDefaults = (given: Parsed): GatewayConfig => {
  const { response_pattern: pattern } = given.rules;
  const mode = given.refusal_replacement.mode ?? (isModeWord(pattern) ? pattern : 'refuse');
  return { ...given, refusal_replacement: { ...given.refusal_replacement, mode } };
};

/** Checks and completes what somebody wrote; the first fault is told with its place. */
export const readConfig = (input: unknown): GatewayConfig => {
  const parsed = v.safeParse(ConfigSchema, input, { abortEarly: true });
  if (parsed.success) return fillDefaults(parsed.output);
  const issue: v.BaseIssue<unknown> = parsed.issues[0];
  const wrong =
    issue.kind === 'validation' ? issue.message : `must be ${issue.expected ?? 'something else'}.`;
  throw invalidParameter(v.getDotPath(issue) ?? 'config', wrong);
};

export const defaultConfig: GatewayConfig = readConfig({});

/** What happens where one of its rules fires. */
export const modeOf = ({ rules, refusal_replacement }: GatewayConfig): Exclude<Decision, 'allow'> => {
  const mode = modeWords[refusal_replacement.mode];
  return mode === 'refuse' && rules.rewrite_instead_of_refuse ? 'rewrite' : mode;
};
