import type { Judgement, Match } from '../../core/review.js';
import { severityOf } from './decide.js';

/** One judgement of a whole exchange, from those of its sides; of equally severe ones the earlier stands (D31). */
export const joinJudgements = (first: Judgement, second: Judgement): Judgement => {
  const winner = outweighs(second, first) ? second : first;
  const other = winner === first ? second : first;
  if (isEmpty(other)) return winner;
  return {
    ...winner,
    triggeredCategories: [...new Set([...first.triggeredCategories, ...second.triggeredCategories])],
    matches: distinct([...first.matches, ...second.matches]),
    redactions: first.redactions + second.redactions,
    candidate: moreSevere(first.candidate, second.candidate),
  };
};

/** An answer that was asked for twice may be found out twice, for the same thing. */
const distinct = (matches: readonly Match[]): readonly Match[] => {
  const seen = new Set<string>();
  return matches.filter(({ kind, direction, name }) => {
    const key = `${kind} ${direction} ${name}`;
    return !seen.has(key) && seen.add(key);
  });
};

/** What was done outweighs what was only recorded. */
const outweighs = (one: Judgement, other: Judgement): boolean => {
  const done = severityOf(one.effective) - severityOf(other.effective);
  return done === 0 ? severityOf(one.decision) > severityOf(other.decision) : done > 0;
};

const isEmpty = ({ matches, decision }: Judgement): boolean => matches.length === 0 && decision === 'allow';

const moreSevere = (one: Judgement['candidate'], other: Judgement['candidate']): Judgement['candidate'] =>
  one === null || (other !== null && severityOf(other) > severityOf(one)) ? other : one;
