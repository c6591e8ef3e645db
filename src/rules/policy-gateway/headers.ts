import type { Judgement } from '../../core/review.js';
import type { GatewayConfig } from './config.js';
import { reasonCodeOf } from './decide.js';

export type ShowPolicy = 'always' | 'when_acted' | 'never';

/** Where a decision shows on an inference reply (D26). */
export const policyHeaders = (
  judgement: Pick<Judgement, 'decision' | 'reasonCode' | 'rolloutMode' | 'redactions'>,
  show: ShowPolicy,
): Record<string, string> => {
  const isPlain = judgement.decision === 'allow' && judgement.redactions === 0;
  if (show === 'never' || (show === 'when_acted' && isPlain)) return {};
  return {
    'x-policy-decision': judgement.decision,
    'x-policy-reason-code': headerText(judgement.reasonCode),
    'x-policy-rollout-mode': judgement.rolloutMode,
  };
};

/** The same where something else than a text was refused: a quota, a key of another project. */
export const refusalHeaders = (
  config: GatewayConfig | null,
  reason: string,
  show: ShowPolicy,
): Record<string, string> => {
  const reasonCode = config ? reasonCodeOf(config, reason) : reason;
  return policyHeaders({ decision: 'refuse', reasonCode, rolloutMode: 'enforced', redactions: 0 }, show);
};

/** Reason codes are the organization's own words: what no header may hold is percent-encoded. */
const headerText = (text: string): string =>
  text.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
