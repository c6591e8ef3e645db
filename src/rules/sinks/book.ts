import type { Clock } from '../../core/clock.js';
import { notFound, type GatewayError } from '../../core/errors.js';
import { looksLikeId } from '../../core/ids.js';
import type { SinkSpec } from '../../core/sink.js';
import type { OutboundRules } from '../../io/outbound/destination.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Page, Records, Stored } from '../../io/records/records.js';
import type { Fields } from './check-config.js';
import { SINK_ERRORS, SinkErrorRecord, SinkRecord, SINKS } from './layout.js';
import { showSink, type Sink, type SinkStatus } from './views.js';
import type { Vault } from './vault.js';

/** What every function on sinks works with. */
export interface SinkBook {
  readonly records: Records;
  readonly clock: Clock;
  readonly vault: Vault;
  /** Where sinks may lead. */
  readonly rules: OutboundRules;
  /** Most sinks of an organization (D14). */
  readonly maxSinks: number;
}

export const DEFAULT_MAX_SINKS = 50;

const noSuchSink = (): GatewayError => notFound('No such export.');

export const readStored = async (
  { records }: SinkBook,
  organizationId: string,
  id: string,
): Promise<Stored> => {
  const stored = looksLikeId('exp', id) ? await records.get(organizationId, SINKS, id) : null;
  if (!stored) throw noSuchSink();
  return stored;
};

/** How the deliveries of these sinks went last. */
export const readStatuses = async (
  { records }: SinkBook,
  organizationId: string,
  ids: readonly string[],
): Promise<readonly SinkStatus[]> => {
  if (ids.length === 0) return [];
  const [uses, errors] = await Promise.all([
    records.lastUses(organizationId, ids),
    Promise.all(ids.map((id) => records.get(organizationId, SINK_ERRORS, id))),
  ]);
  return errors.map((stored, index) => ({
    succeededMs: uses[index] ?? null,
    error: stored && readRecord(SinkErrorRecord, stored),
  }));
};

export const getSink = async (book: SinkBook, organizationId: string, id: string): Promise<Sink> => {
  const stored = await readStored(book, organizationId, id);
  const [status] = await readStatuses(book, organizationId, [id]);
  return showSink(id, readRecord(SinkRecord, stored), status);
};

export const listSinks = async (
  book: SinkBook,
  organizationId: string,
  page: Page,
): Promise<{ readonly items: readonly Sink[]; readonly hasMore: boolean }> => {
  const { items, hasMore } = await book.records.list(organizationId, SINKS, page);
  const statuses = await readStatuses(
    book,
    organizationId,
    items.map(({ id }) => id),
  );
  return {
    items: items.map((stored, index) => showSink(stored.id, readRecord(SinkRecord, stored), statuses[index])),
    hasMore,
  };
};

/** A sink with its secrets in clear, for whoever sends. A secret that cannot be opened is absent. */
export const openSink = async (book: SinkBook, organizationId: string, id: string): Promise<SinkSpec> =>
  specOf(book, organizationId, await readStored(book, organizationId, id));

/** All sinks of an organization, disabled ones too. */
export const openSinks = async (book: SinkBook, organizationId: string): Promise<readonly SinkSpec[]> => {
  const specs: SinkSpec[] = [];
  for (let after = ''; ;) {
    const page = await book.records.list(organizationId, SINKS, {
      limit: 100,
      ...(after !== '' && { after }),
    });
    specs.push(...page.items.map((stored) => specOf(book, organizationId, stored)));
    if (!page.hasMore) return specs;
    after = page.items.at(-1)!.id;
  }
};

const specOf = (book: SinkBook, organizationId: string, stored: Stored): SinkSpec => {
  const record = readRecord(SinkRecord, stored);
  const { type, enabled } = record;
  return {
    id: stored.id,
    organizationId,
    type,
    enabled,
    config: openConfig(book, organizationId, stored.id, record),
  };
};

export const openConfig = (
  { vault }: SinkBook,
  organizationId: string,
  sinkId: string,
  { config, secrets }: SinkRecord,
): Fields => {
  const opened = Object.entries(secrets).flatMap(([field, sealed]) => {
    const secret = vault.open(sealed, { organizationId, sinkId, field });
    return secret === null ? [] : [[field, secret] as const];
  });
  return { ...config, ...Object.fromEntries(opened) };
};
