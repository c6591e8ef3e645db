import type { Judgement } from '../../core/review.js';

export type ShowPolicy = 'always' | 'when_acted' | 'never';

/** Where a decision shows on an inference reply (D26). */
export const policyHeaders = (judgement: Judgement, show: ShowPolicy): Record<string, string> => {
  const isPlain = judgement.decision === 'allow' && judgement.redactions === 0;
  if (show === 'never' || (show === 'when_acted' && isPlain)) return {};
  return {
    'x-policy-decision': judgement.decision,
    'x-policy-reason-code': headerText(judgement.reasonCode),
    'x-policy-rollout-mode': judgement.rolloutMode,
  };
};

/** Reason codes are the organization's own words: what no header may hold is percent-encoded. */
const headerText = (text: string): string =>
  text.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
