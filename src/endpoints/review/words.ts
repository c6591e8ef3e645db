import type { Decision, Judgement } from '../../core/review.js';
import type { GatewayConfig } from '../../rules/policy-gateway/config.js';

/** The words that keep one widespread client from repeating a request (D38). */
const BLOCKED = 'Output blocked by content filtering policy';

const instructions: Readonly<Partial<Record<Decision, string>>> = {
  rewrite:
    'A policy of this organization applies to this conversation. Keep to what the user wants to achieve, but answer ' +
    'safely: leave out anything harmful, offensive or prohibited, and offer a safe way to the same end where there is one.',
  summary:
    'A policy of this organization applies to this conversation. Answer only at a high level, in a few sentences, ' +
    'without steps, quantities, code, names or other detail that somebody could act on.',
};

/** What the model is told where a decision lets the exchange go on under a condition. */
export const instructionOf = (decision: Decision): string | null => instructions[decision] ?? null;

/** Shown in place of text that was kept back. */
export const WITHHELD = 'The rest of this answer was withheld under a policy of this organization.';

export interface Voice {
  readonly config: GatewayConfig;
  /** For people who may be in danger; empty = none. */
  readonly supportText: string;
}

/** What a refused client reads: why, and where to turn. */
export const refusalText = (judgement: Judgement, { config, supportText }: Voice): string => {
  const { triggeredCategories: triggered, decision, reasonCode } = judgement;
  const why = triggered.length > 0 ? triggered.join(', ') : reasonCode;
  const path = config.refusal_replacement.escalation_path;
  const aboutSelfHarm = triggered.some((category) => category.startsWith('self-harm'));
  return [
    `${BLOCKED} (${why}).`,
    ...(decision === 'escalate' && path !== '' ? [`To have this reviewed: ${path}`] : []),
    ...(aboutSelfHarm && supportText !== '' ? [supportText] : []),
  ].join(' ');
};

/** Moderation speaks where categories decided, a policy everywhere else. */
export const refusalCode = ({
  triggeredCategories,
  policyId,
}: Judgement): 'content_blocked' | 'policy_blocked' =>
  triggeredCategories.length > 0 && policyId === null ? 'content_blocked' : 'policy_blocked';
