import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, type Clock } from '../../core/clock.js';
import type { Breakers, Health, Pass } from './breaker.js';
import { aborted } from './faults.js';
import {
  UpstreamFault,
  type FaultKind,
  type Provider,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './provider.js';
import { readRejection, UpstreamRejection } from './rejection.js';

export { UpstreamRejection };

/** A provider, and the name it knows the model by. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
}

/** One try, after it ended. */
export interface Attempt {
  readonly provider: string;
  readonly model: string;
  /** The status of the answer, or why none came. */
  readonly outcome: number | FaultKind;
  /** The provider may have taken the request: from here on it may cost something. */
  readonly reached: boolean;
  readonly waitedMs: number;
}

export interface SendOptions<T extends Target> {
  /** In the order of preference. */
  readonly targets: readonly T[];
  /** null = this target cannot take the request, and is passed over. */
  readonly build: (target: T) => Omit<UpstreamRequest, 'signal'> | null;
  readonly signal: AbortSignal;
  readonly breakers: Breakers;
  readonly onAttempt?: (attempt: Attempt) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly pause?: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
}

/** Every target that could have been asked is failing and rests. */
export class CircuitOpen extends Error {
  readonly retryAfterS: number;

  constructor(waitMs: number) {
    super('The circuits to all providers of this model are open.');
    this.name = 'CircuitOpen';
    this.retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}

type Failure = UpstreamFault | UpstreamRejection;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Asks the targets in turn (D42) and gives the first answer of success, its body unread. Throws the last failure, or
 * CircuitOpen when nobody could be asked. Once an answer is given out nothing is ever tried again.
 */
export const send = async <T extends Target>(
  options: SendOptions<T>,
): Promise<{ readonly target: T; readonly answer: UpstreamAnswer }> => {
  let failure: Failure | null = null;
  let restMs = Infinity;
  for (const target of options.targets) {
    const result = await askTarget(target, options);
    if (result instanceof UpstreamFault || result instanceof UpstreamRejection) {
      failure = result;
      if (remedy(result) === 'none') throw result;
    } else if (typeof result === 'number') restMs = Math.min(restMs, result);
    else return { target, answer: result };
  }
  throw failure ?? new CircuitOpen(restMs);
};

/** One target until it answers, its attempts are used up or its circuit is open (then: how long it rests still), or it cannot take the request (then: for ever). */
const askTarget = async <T extends Target>(
  target: T,
  options: SendOptions<T>,
): Promise<UpstreamAnswer | Failure | number> => {
  const { provider, model } = target;
  const { breakers, signal, clock = systemClock, random = Math.random, pause = sleepFor } = options;
  const built = options.build(target);
  if (!built) return Infinity;
  const request = { ...built, signal };
  for (let attempt = 1, failure: Failure | null = null; ; attempt++) {
    if (signal.aborted) throw aborted();
    const pass = breakers.enter(provider.name, model);
    if (!pass) return failure ?? breakers.waitMs(provider.name, model);
    const result = await tryOnce(target, request, pass, options);
    if (!(result instanceof UpstreamFault) && successful(result.status)) return result;
    failure =
      result instanceof UpstreamFault
        ? result
        : await readRejection(result, clock.nowMs(), (words) => provider.conceal?.(words) ?? words);
    if (remedy(failure) !== 'again' || attempt >= provider.attempts) return failure;
    const pauseMs = pauseBefore(attempt, failure, random);
    if (pauseMs === null) return failure;
    await pause(pauseMs, signal).catch(() => {}); // it only fails by the signal, which is looked at above
  }
};

const tryOnce = async (
  { provider, model }: Target,
  request: UpstreamRequest,
  pass: Pass,
  { breakers, onAttempt, clock = systemClock }: Pick<SendOptions<Target>, 'breakers' | 'onAttempt' | 'clock'>,
): Promise<UpstreamAnswer | UpstreamFault> => {
  const startedMs = clock.ticksMs();
  const result = await provider.send(request).catch((thrown: unknown) => {
    if (thrown instanceof UpstreamFault) return thrown;
    breakers.leave(provider.name, model, pass, 'unknown');
    throw thrown;
  });
  breakers.leave(provider.name, model, pass, healthSeen(result));
  const outcome = result instanceof UpstreamFault ? result.kind : result.status;
  onAttempt?.({
    provider: provider.name,
    model,
    outcome,
    reached: outcome !== 'connect',
    waitedMs: clock.ticksMs() - startedMs,
  });
  return result;
};

const healthSeen = (result: UpstreamAnswer | UpstreamFault): Health => {
  if (result instanceof UpstreamFault) return result.kind === 'aborted' ? 'unknown' : 'failing';
  return result.status >= 500 ? 'failing' : 'alive';
};

const successful = (status: number): boolean => status >= 200 && status < 300;

/** What helps against a failure: the same target again, another one, or nothing. */
const remedy = (failure: Failure): 'again' | 'another' | 'none' => {
  if (failure instanceof UpstreamFault)
    return failure.kind === 'connect' ? 'again' : failure.kind === 'aborted' ? 'none' : 'another';
  const { status } = failure;
  if (status === 429 || status === 503 || status === 529) return 'again';
  return status >= 400 && status < 500 ? 'none' : 'another';
};

/** A little, doubling, jittered; as long as the provider wishes if that is short; null if it wishes for longer. */
const pauseBefore = (attempt: number, failure: Failure, random: () => number): number | null => {
  const wishMs = failure instanceof UpstreamRejection ? (failure.retryAfterS ?? 0) * 1_000 : 0;
  if (wishMs > LONGEST_PAUSE_MS) return null;
  const ownMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.5 + random() / 2);
  return Math.max(wishMs, ownMs);
};

const sleepFor = (durationMs: number, signal: AbortSignal): Promise<unknown> =>
  sleep(durationMs, undefined, { signal });
