import type { Direction, PolicyFinding } from '../../core/review.js';
import { runAtOnce, runInSlices, type Sliced } from '../../text/sliced.js';
import { bindInput, ExpressionFault, type Bindings } from './expression.js';
import { findingOf } from './finding.js';
import { judgePolicies, type Judge, type JudgeOptions } from './judge.js';
import {
  appliesTo,
  groupPolicies,
  type CompiledPolicy,
  type ExpressionPolicy,
  type Group,
  type Groups,
  type Reading,
} from './policy-groups.js';
import type { Side } from './policy-side.js';
import type { PublishedPolicy } from './published-policy.js';
import type { Rule } from './rule.js';
import { meetsThreshold } from './threshold.js';

/** Who sends or receives what is read. */
export interface Subject {
  readonly projectId: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly user: string | null;
  /** Asks the unattached policies too (D30). */
  readonly isSimulated?: boolean;
}

/** What is read, and what others found in it. */
export interface Piece {
  readonly text: string;
  readonly direction: Direction;
  readonly categories: ReadonlyMap<string, number>;
  readonly terms: readonly string[];
  readonly tokens: number;
}

/** A longer text is read in windows; what lies within the overlap of two is in one of them whole. */
export const WINDOW_CHARS = 65_536;
/** Longer than any literal a rule has room for. */
export const OVERLAP_CHARS = 20_480;

const none: readonly PolicyFinding[] = [];

/** The published policies of one organization, compiled; it never changes. */
export class PolicySet {
  readonly #policies: readonly CompiledPolicy[];
  readonly #onFault: (policyId: string) => void;
  readonly #sides: Readonly<Record<Direction, Side<ExpressionPolicy>>>;
  readonly #groups: Readonly<Record<Direction, Groups>>;
  #byRule: ReadonlyMap<string, CompiledPolicy> | null = null;

  constructor(
    policies: readonly CompiledPolicy[],
    options: {
      readonly onFault: (policyId: string) => void;
      readonly sides: Readonly<Record<Direction, Side<ExpressionPolicy>>>;
    },
  ) {
    this.#policies = policies;
    this.#onFault = options.onFault;
    this.#sides = options.sides;
    this.#groups = {
      request: groupPolicies(policies, 'request', options.sides.request.unfiltered),
      response: groupPolicies(policies, 'response', options.sides.response.unfiltered),
    };
  }

  get size(): number {
    return this.#policies.length;
  }

  readsAnswers(subject: Subject): Reading {
    return this.#groupOf(subject, 'response').reading;
  }

  /** What a judge would be asked about a side. */
  readsProse(subject: Subject, direction: Direction): Reading {
    return this.#groupOf(subject, direction).proseReading;
  }

  /** Whether anything at all reads a side. */
  reads(subject: Subject, direction: Direction): Reading {
    return this.#groupOf(subject, direction).reading;
  }

  hasProse(direction: Direction): boolean {
    return this.#policies.some(
      ({ compiled, direction: read }) => compiled.kind === 'prose' && (read === 'both' || read === direction),
    );
  }

  /** All expressions that apply, in one pass: for a window of a stream and other short texts. */
  evaluate(subject: Subject, piece: Piece): readonly PolicyFinding[] {
    const group = this.#groupOf(subject, piece.direction);
    return group.hasExpressions ? runAtOnce(this.#review(group, subject, piece)) : none;
  }

  /** The same findings for a text of any length, without holding up the loop. */
  async evaluateSlowly(subject: Subject, piece: Piece): Promise<readonly PolicyFinding[]> {
    const group = this.#groupOf(subject, piece.direction);
    return group.hasExpressions ? runInSlices(this.#review(group, subject, piece)) : none;
  }

  /** All prose that applies, in one question; a judge that does not answer is what the options declare. */
  judgeProse(
    subject: Subject,
    piece: Pick<Piece, 'text' | 'direction'>,
    judge: Judge,
    options: JudgeOptions,
  ): Promise<readonly PolicyFinding[]> {
    return judgePolicies(this.#groupOf(subject, piece.direction).prose, piece, judge, options);
  }

  /** The compiled rule of an equal policy: a set that is compiled anew takes over what stayed. */
  ruleLike({ rule, thresholdBasisPoints }: PublishedPolicy): Rule | undefined {
    this.#byRule ??= new Map(this.#policies.map((policy) => [policy.rule, policy]));
    const like = this.#byRule.get(rule);
    return like?.thresholdBasisPoints === thresholdBasisPoints ? like.compiled : undefined;
  }

  #groupOf({ projectId, isSimulated }: Subject, direction: Direction): Group {
    const groups = this.#groups[direction];
    return isSimulated === true ? groups.simulated(projectId) : groups.of(projectId);
  }

  *#review(group: Group, subject: Subject, piece: Piece): Sliced<readonly PolicyFinding[]> {
    const side = this.#sides[piece.direction];
    const found = new Map<ExpressionPolicy, PolicyFinding>();
    const failed = new Set<ExpressionPolicy>();
    for (const text of windowsOf(piece.text)) {
      const candidates = side.candidates(text);
      if (candidates.length === 0 && group.unfiltered.length === 0) {
        yield;
        continue;
      }
      const bindings = bindPiece(subject, piece, text);
      const applying = candidates.filter(({ policy }) =>
        appliesTo(policy, subject.projectId, subject.isSimulated === true),
      );
      for (const member of [...applying, ...group.unfiltered]) {
        if (found.has(member) || failed.has(member)) continue;
        const score = yield* this.#score(member, bindings);
        if (score === null) failed.add(member);
        else if (meetsThreshold(score, member.policy.thresholdBasisPoints))
          found.set(member, findingOf(member.policy, score));
        yield;
      }
    }
    if (found.size === 0) return none;
    return [...found].sort(([one], [other]) => one.order - other.order).map(([, finding]) => finding);
  }

  /** Null where an expression cannot say: that is no match, and is told. */
  *#score({ policy, expression }: ExpressionPolicy, bindings: Bindings): Sliced<number | null> {
    try {
      const result = yield* expression.review(bindings);
      if (typeof result === 'boolean') return result ? 1 : 0;
      return result >= 0 ? Math.min(1, result) : 0;
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error;
      this.#onFault(policy.id);
      return null;
    }
  }
}

const bindPiece = (subject: Subject, piece: Piece, text: string): Bindings =>
  bindInput({
    text,
    direction: piece.direction,
    model: subject.model,
    project_id: subject.projectId ?? '',
    endpoint: subject.endpoint,
    user: subject.user ?? '',
    categories: piece.categories,
    terms: piece.terms,
    tokens: piece.tokens,
  });

function* windowsOf(text: string): Generator<string> {
  for (let start = 0; ; start += WINDOW_CHARS - OVERLAP_CHARS) {
    yield text.length <= WINDOW_CHARS ? text : text.slice(start, start + WINDOW_CHARS);
    if (start + WINDOW_CHARS >= text.length) return;
  }
}
