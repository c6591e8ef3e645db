import type { Registry } from 'prom-client';
import { bounded, counter, gauge } from './series.js';

/** What is counted of limits and credits; names are words of the gateway's own, so there are few. */
export interface LimitMetrics {
  decision(space: string, outcome: string, scope: string, metric: string): void;
  /** A decision taken without the shared limiter. */
  fallback(space: string, outcome: string): void;
  settled(outcome: string, overdraftTokens: number): void;
  pruned(leases: number): void;
  clockStepped(): void;
  waiting(settlements: number, dropped: number): void;
  leases(underWay: number): void;
}

const MOST_SERIES = 200;

export function registerLimitFamilies(registry: Registry): LimitMetrics {
  const of = (name: string, help: string, labels: readonly string[]) => {
    const family = counter(registry, name, help, labels);
    return bounded(MOST_SERIES, (words) => family.child(...words.split(' ')));
  };
  const decisions = of(
    'sluice_limit_decisions_total',
    'Decisions of the limiter; a refusal names the scope and metric that bind.',
    ['space', 'outcome', 'scope', 'metric'],
  );
  const fallbacks = of(
    'sluice_limit_fallback_decisions_total',
    'Decisions taken without the shared limiter.',
    ['space', 'outcome'],
  );
  const settlements = of(
    'sluice_limit_settlements_total',
    'Settled requests; late: after their lease had run out.',
    ['outcome'],
  );
  const total = (name: string, help: string) => counter(registry, name, help, []).child();
  const overdraft = total('sluice_limit_overdraft_tokens_total', 'Tokens used beyond what was reserved.');
  const prunedLeases = total('sluice_limit_leases_pruned_total', 'Leases ended because nobody renewed them.');
  const clockSteps = total('sluice_limit_clock_steps_total', 'Times the clock of the limiter fell back.');
  const droppedPosts = total(
    'sluice_limit_settlements_dropped_total',
    'Settlements given up because too many were waiting.',
  );
  const waitingPosts = gauge(
    registry,
    'sluice_limit_settlements_waiting',
    'Settlements waiting for the shared limiter.',
    [],
  ).child();
  const liveLeases = gauge(registry, 'sluice_limit_leases', 'Leases this gateway holds now.', []).child();

  return {
    decision: (space, outcome, scope, metric) => {
      decisions(`${space} ${outcome} ${scope} ${metric}`).value++;
    },
    fallback: (space, outcome) => {
      fallbacks(`${space} ${outcome}`).value++;
    },
    settled: (outcome, overdraftTokens) => {
      settlements(outcome).value++;
      overdraft.value += overdraftTokens;
    },
    pruned: (leases) => {
      prunedLeases.value += leases;
    },
    clockStepped: () => {
      clockSteps.value++;
    },
    waiting: (count, dropped) => {
      waitingPosts.value = count;
      droppedPosts.value = dropped;
    },
    leases: (underWay) => {
      liveLeases.value = underWay;
    },
  };
}
