/** What moderation knows by name: OpenAI's categories, of which the seed's are six. */
export const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

/** Named like a category: the text is in a language the classifier cannot read, so that its scores mean little. */
export const UNSUPPORTED_LANGUAGE = 'unsupported_language';

/** All that an organization may name. */
export const nameable = [...categories, UNSUPPORTED_LANGUAGE] as const;

export type Category = (typeof nameable)[number];

/** Blocked in every request and answer, whatever the configuration says (seed 1). */
export const alwaysBlocked = ['self-harm', 'sexual/minors'] as const satisfies readonly Category[];

/** A category covers those below it: `self-harm` covers `self-harm/intent` (D19). */
export const covers = (listed: readonly string[], category: string): boolean => {
  for (const one of listed)
    if (category.startsWith(one) && (category.length === one.length || category[one.length] === '/'))
      return true;
  return false;
};

/** From 0 to 1; 0.5 is the default threshold of every category. A category that is not there was not judged. */
export type Scores = ReadonlyMap<Category, number>;

/** Which side of an exchange is read. */
export type Direction = 'request' | 'response';

/** In rising severity; `rewrite` and `summary` share one step (D18). */
export const decisions = ['allow', 'rewrite', 'summary', 'escalate', 'refuse'] as const;

export type Decision = (typeof decisions)[number];

/** How the organization's configuration was being rolled out when it decided (D22). */
export type RolloutMode = 'enforced' | 'shadow' | 'canary' | 'rollback';

/** What an organization policy made of a text. */
export interface PolicyFinding {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly mode: 'monitoring' | 'enforcing';
  /** Seconds; findings stand in this order. */
  readonly createdAt: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly matched: boolean;
  /** The judge did not answer, and this is what was declared for that case. */
  readonly fallback?: true;
}

/** One thing that was found, by the rule that found it. Never the text itself. */
export interface Match {
  readonly kind: 'category' | 'denylist' | 'allowlist' | 'policy' | 'redaction';
  readonly direction: Direction;
  /** The category, the term, the policy's id, or the kind of data that was masked. */
  readonly name: string;
  readonly score?: number;
  readonly policyName?: string;
  readonly policyVersion?: number;
  /** Of a policy whose judge did not answer: what was declared for that case. */
  readonly fallback?: true;
  /** Where the text stood in the request: `messages.0.content`. */
  readonly at?: string;
  /** Whether it had a say in what happened; a monitoring policy only records. */
  readonly enforcing: boolean;
}

/** What was decided about one exchange, for its headers and its audit event. */
export interface Judgement {
  readonly decision: Decision;
  /** What was done: `allow` where the decision was only recorded. */
  readonly effective: Decision;
  readonly enforced: boolean;
  readonly rolloutMode: RolloutMode;
  readonly reasonCode: string;
  readonly policyId: string | null;
  readonly triggeredCategories: readonly string[];
  readonly matches: readonly Match[];
  readonly direction: Direction;
  /** Values masked on both sides. */
  readonly redactions: number;
  /** What the gateway configuration alone made of it; null = it decided nothing. */
  readonly candidate: Decision | null;
}
