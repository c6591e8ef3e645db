import type { Outcome, SinkSpec } from '../../core/sink.js';
import type { HistoryFilter, HistoryPage } from './history.js';
import type { Durability } from './spool-file.js';
import type { SinkStatus, TrailStatus } from './status.js';

/** What the worker is started with. */
export interface WorkerOptions {
  readonly folder: string;
  readonly durability: Durability;
  readonly maxBytes: number;
  readonly minFreeBytes: number;
  readonly retentionMs: number;
  /** For whoever makes the senders; must survive being posted. */
  readonly senders: unknown;
}

/** Events that were recorded in one turn of the main loop, flat: posting strings is what costs least. */
export interface Group {
  readonly kind: 'record';
  readonly group: number;
  readonly atMs: number;
  /** Four strings for each event: organization, event id or '', time or '', body. */
  readonly parts: readonly string[];
}

export interface Questions {
  history: (organizationId: string, filter: HistoryFilter) => HistoryPage;
  erase: (organizationId: string, user: string) => number;
  trySink: (spec: SinkSpec) => Outcome;
}

export type Question = keyof Questions;

export type Missed = readonly (readonly [organizationId: string, count: number])[];

export type ToWorker =
  | Group
  | { readonly kind: 'missed'; readonly missed: Missed }
  | { readonly kind: 'sinks'; readonly specs: readonly SinkSpec[] }
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly question: Question;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'close'; readonly drainMs: number };

export type FromWorker =
  | { readonly kind: 'ready'; readonly instanceId: string; readonly open: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
  /** All groups up to this one, which were not told of yet, are safe, or none of them is. */
  | { readonly kind: 'recorded'; readonly group: number; readonly ok: boolean }
  | { readonly kind: 'room'; readonly open: boolean }
  | { readonly kind: 'sink'; readonly status: SinkStatus }
  | { readonly kind: 'trail'; readonly status: TrailStatus }
  | { readonly kind: 'warning'; readonly message: string; readonly fields: object }
  | { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly reason: string }
  | { readonly kind: 'broken'; readonly missed: Missed };

export const PARTS_OF_AN_EVENT = 4;
