import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../core/errors.js';
import type { Direction, PolicyFinding, Scores } from '../../core/review.js';
import { EngineUnavailable, type Engine } from '../../rules/moderation/engine.js';
import type { Judge } from '../../rules/policies/judge.js';
import type { Terms } from '../../text/terms.js';
import type { Scene } from './scene.js';
import { reached } from './scene.js';

/** What one text holds, whoever asks; the same text is not read twice under the same rules (D31). */
export interface Inspected {
  readonly categories: readonly string[];
  readonly scores: Scores;
  readonly denied: readonly string[];
  readonly listed: readonly string[];
  readonly policies: readonly PolicyFinding[];
}

export interface InspectParts {
  readonly engine: Engine;
  readonly threshold: (category: string) => number;
  readonly judge: Judge;
  readonly onJudgeError: 'closed' | 'open';
  readonly onUnavailable: (error: Error) => void;
}

export type Inspect = (
  text: string,
  direction: Direction,
  scene: Scene,
  signal: AbortSignal,
) => Promise<Inspected>;

const KEPT_TEXTS = 20_000;
const CHARS_PER_TOKEN = 4;
/** Characters read at a stretch; then others have their turn. */
const SLICE = 16_384;

/** Numbers the rules an organization has at the moment, so that what was found under others is not taken for theirs. */
const createEras = () => {
  const eras = new WeakMap<object, WeakMap<object, number>>();
  let latest = 0;
  return ({ compiled, policies }: Scene): number => {
    let inner = eras.get(compiled);
    if (!inner) eras.set(compiled, (inner = new WeakMap()));
    let era = inner.get(policies);
    if (era === undefined) inner.set(policies, (era = ++latest));
    return era;
  };
};

export const createInspect = ({
  engine,
  threshold,
  judge,
  onJudgeError,
  onUnavailable,
}: InspectParts): Inspect => {
  const known = new LRUCache<string, Inspected>({ max: KEPT_TEXTS });
  const eraOf = createEras();

  const read = async (
    text: string,
    direction: Direction,
    { compiled, policies, subject, standing }: Scene,
    signal: AbortSignal,
  ): Promise<Inspected> => {
    const scores = await engine.judge(text, { signal }).catch(asUnavailable);
    const denied = standing.decides && compiled.denylist ? await findTerms(compiled.denylist, text) : [];
    const listed = standing.decides && compiled.allowlist ? await findTerms(compiled.allowlist, text) : [];
    const piece = {
      text,
      direction,
      categories: scores,
      terms: [...denied, ...listed],
      tokens: Math.ceil(text.length / CHARS_PER_TOKEN),
    };
    const matched = await policies.evaluateSlowly(subject, piece);
    const prose =
      policies.readsProse(subject, direction) === 'no'
        ? []
        : await policies.judgeProse(subject, piece, judge, { onJudgeError, onUnavailable, signal });
    return {
      categories: reached(scores, threshold),
      scores,
      denied,
      listed,
      policies: [...matched, ...prose],
    };
  };

  return async (text, direction, scene, signal) => {
    const { projectId, model, endpoint, user } = scene.subject;
    // Rules may ask for all of these; where there are none, the text alone counts.
    const about = scene.policies.size > 0 ? [projectId, model, endpoint, user].join('\n') : '';
    const key = `${eraOf(scene)} ${direction} ${String(scene.standing.decides)} ${about} ${hash('sha256', text, 'base64')}`;
    const before = known.get(key);
    if (before) return before;
    const inspected = await read(text, direction, scene, signal);
    if (!inspected.policies.some(({ fallback }) => fallback)) known.set(key, inspected);
    return inspected;
  };
};

const asUnavailable = (error: unknown): never => {
  if (!(error instanceof EngineUnavailable)) throw error;
  throw new GatewayError(
    'moderation_unavailable',
    'The moderation service does not answer. Try again shortly.',
    {
      retryAfterS: 1,
      cause: error,
    },
  );
};

/** Without holding up the loop, however long the text is. */
const findTerms = async (terms: Terms, text: string): Promise<string[]> => {
  if (text.length <= SLICE) return termsOf(terms.find(text));
  const follower = terms.follow();
  for (let from = 0; from < text.length; from += SLICE) {
    if (from > 0) await setImmediate();
    follower.write(text.slice(from, from + SLICE));
  }
  follower.end();
  return termsOf(follower.hits);
};

const termsOf = (hits: readonly { readonly term: string }[]): string[] => [
  ...new Set(hits.map(({ term }) => term)),
];
