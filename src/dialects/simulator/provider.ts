import { systemClock, type Clock } from '../../core/clock.js';
import { newId as mintId } from '../../core/ids.js';
import { UpstreamFault, type Provider, type UpstreamAnswer } from '../../io/upstream/provider.js';
import { reset, systemTimers, wait, type Timers } from './pace.js';
import { PacedBody } from './paced-body.js';
import { planAnswer } from './plan.js';

export interface SimulatorOptions {
  readonly name: string;
  /** From the request to the first byte. */
  readonly ttftMs: number;
  /** 0 or Infinity: as fast as the answer is read. */
  readonly tokensPerSecond: number;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly newId?: (prefix: string) => string;
}

/**
 * A provider that needs no network: the same request gets the same answer, in its own wire format. `close` takes no new
 * calls and waits for the answers under way.
 */
export const createSimulator = (options: SimulatorOptions): Provider => {
  const { name, ttftMs, tokensPerSecond } = options;
  const clock = options.clock ?? systemClock;
  const timers = options.timers ?? systemTimers;
  const newId = options.newId ?? mintId;
  let live = 0;
  let closing: Promise<void> | null = null;
  let allDone = (): void => {};

  const release = (): void => {
    if (--live === 0) allDone();
  };

  return {
    name,
    kind: 'simulator',
    attempts: 1,

    async send({ path, body, signal }): Promise<UpstreamAnswer> {
      if (closing) throw new UpstreamFault('connect', `The simulator ${name} is closed.`);
      live++;
      try {
        const plan = planAnswer(path, body, { ttftMs, tokensPerSecond, clock, newId });
        await wait(timers, plan.waitMs, signal);
        if (!plan.steps) throw reset();
        const answer = new PacedBody({ steps: plan.steps, clock, timers, signal });
        answer.once('close', release);
        return { status: plan.status, headers: plan.headers, body: answer };
      } catch (error) {
        release();
        throw error;
      }
    },

    close: () =>
      (closing ??= new Promise((resolve) => {
        allDone = resolve;
        if (live === 0) resolve();
      })),
  };
};
