import type { Registry } from 'prom-client';
import { bounded, counter, gauge } from './series.js';

/** What is counted of decisions and of the audit trail; names are words of the gateway's own, so there are few. */
export interface PolicingMetrics {
  decision(decision: string, effective: string, rolloutMode: string, direction: string): void;
  category(category: string): void;
  redactions(count: number): void;
  rollback(): void;
  /** A rule, a judge or a moderation service could not say. */
  fault(what: string): void;
  readonly audit: AuditMetrics;
}

export interface AuditMetrics {
  recorded(result: 'ok' | 'lost'): void;
  spool(state: SpoolState): void;
  sink(sinkId: string, state: SinkState): void;
  forget(sinkId: string): void;
  trouble(kind: string, count: number): void;
}

export interface SpoolState {
  readonly bytes: number;
  /** Of them, waiting for a sink. */
  readonly waiting: number;
  readonly limit: number;
  readonly events: number;
  readonly open: boolean;
}

export interface SinkState {
  readonly queued: number;
  readonly oldestMs: number;
  readonly lastSuccessS: number | null;
  /** In all, by kind. */
  readonly errors: Readonly<Record<string, number>>;
}

const MOST_SERIES = 200;
const MOST_SINKS = 500;

export function registerPolicingFamilies(registry: Registry): PolicingMetrics {
  const of = (name: string, help: string, labels: readonly string[]) => {
    const family = counter(registry, name, help, labels);
    return bounded(MOST_SERIES, (words) => family.child(...words.split(' ')));
  };
  const total = (name: string, help: string) => counter(registry, name, help, []).child();
  const decisions = of('sluice_policy_decisions_total', 'Decisions about requests and answers.', [
    'decision',
    'effective',
    'rollout_mode',
    'direction',
  ]);
  const triggered = of('sluice_moderation_categories_total', 'Exchanges in which a category decided.', [
    'category',
  ]);
  const masked = total('sluice_redactions_total', 'Values masked in requests and answers.');
  const rollbacks = total('sluice_policy_rollbacks_total', 'Times a spike stopped a configuration here.');
  const faults = of('sluice_policy_faults_total', 'Rules, judges and services that could not say.', ['what']);
  return {
    decision: (decision, effective, mode, direction) => {
      decisions(`${decision} ${effective} ${mode} ${direction}`).value++;
    },
    category: (category) => {
      triggered(category).value++;
    },
    redactions: (count) => {
      masked.value += count;
    },
    rollback: () => {
      rollbacks.value++;
    },
    fault: (what) => {
      faults(what).value++;
    },
    audit: registerAuditFamilies(registry),
  };
}

function registerAuditFamilies(registry: Registry): AuditMetrics {
  const events = counter(registry, 'sluice_audit_events_total', 'Audit events; lost = not recorded.', [
    'result',
  ]);
  const [ok, lost] = [events.child('ok'), events.child('lost')];
  const one = (name: string, help: string) => gauge(registry, name, help, []).child();
  const bytes = one('sluice_audit_spool_bytes', 'What the spool takes on disk.');
  const waiting = one('sluice_audit_waiting_bytes', 'What of it waits for a sink.');
  const limit = one('sluice_audit_limit_bytes', 'What the spool may take, as the disk is now.');
  const written = one('sluice_audit_recorded_events', 'Events of every kind written since the start.');
  const open = one('sluice_audit_open', 'Whether the spool takes events (1) or has no room (0).');
  const perSink = (name: string, help: string, labels: readonly string[] = ['sink']) =>
    gauge(registry, name, help, labels);
  const queued = perSink('sluice_sink_queued_events', 'Events a sink has not confirmed.');
  const oldest = perSink('sluice_sink_oldest_seconds', 'Age of the oldest event a sink has not confirmed.');
  const success = perSink('sluice_sink_last_success_seconds', 'When a sink last took a batch, Unix time.');
  const errors = perSink('sluice_sink_errors', 'Failed deliveries of a sink since the start, by kind.', [
    'sink',
    'kind',
  ]);
  const troubles = perSink(
    'sluice_audit_troubles',
    'Events lost, skipped or set aside since the start, by kind.',
    ['kind'],
  );
  const sinkOf = bounded(MOST_SINKS, (id) => ({
    queued: queued.child(id),
    oldest: oldest.child(id),
    success: success.child(id),
  }));
  return {
    recorded: (result) => {
      (result === 'ok' ? ok : lost).value++;
    },
    spool: (state) => {
      bytes.value = state.bytes;
      waiting.value = state.waiting;
      limit.value = state.limit;
      written.value = state.events;
      open.value = state.open ? 1 : 0;
    },
    sink: (id, state) => {
      const series = sinkOf(id);
      series.queued.value = state.queued;
      series.oldest.value = state.oldestMs / 1_000;
      if (state.lastSuccessS !== null) series.success.value = state.lastSuccessS;
      for (const [kind, count] of Object.entries(state.errors)) errors.child(id, kind).value = count;
    },
    forget: (id) => {
      const series = sinkOf(id);
      series.queued.value = series.oldest.value = 0;
    },
    trouble: (kind, count) => {
      troubles.child(kind).value = count;
    },
  };
}
