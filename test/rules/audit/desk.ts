import { setImmediate as breathe } from 'node:timers/promises';
import { ManualClock } from '../../support/manual-clock.js';
import { until as comesAbout } from '../../support/redis.js';
import { blankFacts, type AuditFacts, type EventContent } from '../../../src/core/audit.js';
import type { Batch, Outcome, Sender, SinkSpec } from '../../../src/core/sink.js';
import type { Alarm } from '../../../src/rules/audit/courier.js';
import { writeBody } from '../../../src/rules/audit/event.js';
import type { Entry } from '../../../src/rules/audit/spool.js';
import type { SinkStatus, TrailStatus } from '../../../src/rules/audit/status.js';
import { Trail, type TrailOptions } from '../../../src/rules/audit/trail.js';

export const ORG = 'org_a';

/** Time and alarms that move only when a test says so. */
export class ManualTime extends ManualClock {
  #alarms: { readonly act: () => void; readonly atMs: number }[] = [];

  readonly alarm: Alarm = (act, delayMs) => {
    const one = { act, atMs: this.ticksMs() + delayMs };
    this.#alarms.push(one);
    return () => (this.#alarms = this.#alarms.filter((other) => other !== one));
  };

  /** How long until the next alarm but the trail's own tick. */
  get delaysMs(): number[] {
    return this.#alarms.map(({ atMs }) => atMs - this.ticksMs()).sort((a, b) => a - b);
  }

  /** A long time in one step: alarms that came due go off once, at its end. */
  leap(durationMs: number): void {
    super.advance(durationMs);
    this.advance(0);
  }

  override advance(durationMs: number): void {
    const untilMs = this.ticksMs() + durationMs;
    for (;;) {
      const due = this.#alarms.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!due) break;
      super.advance(Math.max(0, due.atMs - this.ticksMs()));
      this.#alarms = this.#alarms.filter((other) => other !== due);
      due.act();
    }
    super.advance(untilMs - this.ticksMs());
  }
}

/** A destination that answers as it is told and remembers what it was sent. */
export class ScriptedSink {
  readonly batches: Batch[] = [];
  readonly limits = { count: 100, bytes: 1_000_000, ageMs: 0 };
  closed = 0;
  answer: (batch: Batch, signal: AbortSignal) => Outcome | Promise<Outcome> = () => ({ kind: 'accepted' });
  /** Of accepted batches, in the order of arrival. */
  readonly taken: number[] = [];

  readonly sender = (): Sender => ({
    limits: this.limits,
    send: async (batch, signal) => {
      this.batches.push(batch);
      const outcome = await this.answer(batch, signal);
      for (const [n, { seq }] of batch.events.entries())
        if (
          outcome.kind === 'accepted' ||
          (outcome.kind === 'partly' && outcome.items[n]?.kind === 'accepted')
        )
          this.taken.push(seq);
      return outcome;
    },
    close: async () => {
      this.closed++;
    },
  });
}

/** Content of an event, where it is kept. */
export const said = (text: string): EventContent => ({
  request: [{ at: 'messages.0.content', role: 'user', text }],
  response: [],
});

export const facts = (over: Partial<AuditFacts> = {}): AuditFacts => ({
  ...blankFacts('enforcement', over.org_id ?? ORG),
  decision: 'allow',
  effective_decision: 'allow',
  enforced: true,
  ...over,
});

export const entry = (over: Partial<AuditFacts> = {}): Entry => {
  const given = facts(over);
  return {
    organizationId: given.org_id,
    body: writeBody(given),
    ...(given.event_id !== undefined && { eventId: given.event_id }),
    ...(given.created_at !== undefined && { createdAt: given.created_at }),
  };
};

export const entries = (count: number, over: Partial<AuditFacts> = {}): Entry[] =>
  Array.from({ length: count }, () => entry(over));

export const sinkOf = (id = 'sink_1', over: Partial<SinkSpec> = {}): SinkSpec => ({
  id,
  organizationId: ORG,
  type: 'test',
  enabled: true,
  config: {},
  ...over,
});

/** A trail in this thread, with everything it tells. */
export function openTrail(over: Partial<TrailOptions> = {}) {
  const time = new ManualTime();
  const sinks = new Map<string, ScriptedSink>();
  const told = {
    sinks: new Map<string, SinkStatus>(),
    trail: null as TrailStatus | null,
    room: [] as boolean[],
    warnings: [] as string[],
    broken: 0,
  };
  const sink = (id = 'sink_1'): ScriptedSink => {
    const known = sinks.get(id) ?? new ScriptedSink();
    sinks.set(id, known);
    return known;
  };
  const trail = new Trail({
    folder: ':memory:',
    durability: 'process',
    maxBytes: 1e9,
    minFreeBytes: 0,
    retentionMs: 30 * 86_400_000,
    createSender: ({ id }) => sink(id).sender(),
    onSink: (status) => void told.sinks.set(status.sinkId, status),
    onTrail: (status) => (told.trail = status),
    onRoom: (open) => void told.room.push(open),
    warn: (message) => void told.warnings.push(message),
    onBroken: () => {
      told.broken++;
    },
    clock: time,
    random: () => 1,
    alarm: time.alarm,
    ...over,
  });
  return { trail, time, sink, told };
}

/** Every event of an organization, oldest first. */
export async function eventsOf(trail: Trail, organizationId = ORG): Promise<Record<string, unknown>[]> {
  const { events } = await trail.history(organizationId, { limit: 1e6 });
  return events.map((json) => JSON.parse(json) as Record<string, unknown>).reverse();
}

/** Waits for a condition, and first for everything that only needs its turn. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await breathe();
  await comesAbout(condition);
}
