import type { Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import type { NeutralRequest, Reasoning } from './neutral-request.js';
import { budgetOfEffort, LEAST_BUDGET } from './reasoning.js';
import type { Writing } from './upstream-flags.js';

export interface Thinking {
  readonly thinking: Json | null;
  readonly effort: string | null;
}

const none: Thinking = { thinking: null, effort: null };

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

const DEFAULT_EFFORT = 'medium';

const knownEffort = ({ effort }: Reasoning): string | null => {
  if (effort === null) return null;
  if (!Object.hasOwn(EFFORTS, effort.value))
    throw unsupported(effort.at, `must be one of none, ${Object.keys(EFFORTS).join(', ')}`);
  return effort.value;
};

/** A model told to reason by a budget insists that calls still under way begin with its own reasoning. */
const repliesToUnsignedCalls = ({ turns }: NeutralRequest): boolean => {
  const lastSaid = turns.findLast((turn) => turn.role === 'assistant');
  const answersTools = turns.at(-1)?.parts.some((part) => part.kind === 'tool_result') ?? false;
  return (
    answersTools &&
    !lastSaid?.parts.some((part) => part.kind === 'reasoning' && part.signature?.issuer === 'messages')
  );
};

const writeBudget = (request: NeutralRequest, maxTokens: number): Json | null => {
  const { budgetTokens } = request.reasoning;
  const effort = knownEffort(request.reasoning) ?? DEFAULT_EFFORT;
  const budget = Math.min(budgetTokens?.value ?? budgetOfEffort[effort]!, maxTokens - 1);
  if (budget < LEAST_BUDGET || repliesToUnsignedCalls(request)) return null;
  return { type: 'enabled', budget_tokens: budget };
};

/** How the request asks for reasoning. A tool that must be called leaves no room for it: the call comes first. */
export const writeThinking = (request: NeutralRequest, writing: Writing, maxTokens: number): Thinking => {
  const { flags, ledger } = writing;
  const { wanted, budgetTokens, summary } = request.reasoning;
  const forced = request.toolChoice?.mode === 'any' || request.toolChoice?.mode === 'tool';
  const effort = knownEffort(request.reasoning);
  if (flags.dropReasoning) {
    for (const field of Object.values(request.reasoning) as Reasoning['wanted'][]) ledger.drop(field);
    return none;
  }
  if (wanted?.value === false) {
    ledger.drop(summary);
    return { thinking: { type: 'disabled' }, effort: effort && EFFORTS[effort]! };
  }
  const byBudget = flags.thinking === 'budget' || budgetTokens !== null;
  const told = byBudget ? null : effort && EFFORTS[effort]!;
  if (wanted === null || forced) {
    if (told === null) ledger.drop(wanted);
    ledger.drop(summary);
    return { thinking: null, effort: told };
  }
  const thinking = byBudget ? writeBudget(request, maxTokens) : { type: 'adaptive' };
  if (thinking === null) {
    ledger.drop(wanted);
    ledger.drop(summary);
    return none;
  }
  const display = summary && { display: summary.value === 'none' ? 'omitted' : 'summarized' };
  return { thinking: { ...thinking, ...display }, effort: told };
};
