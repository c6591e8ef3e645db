import { isDeepStrictEqual } from 'node:util';
import { GatewayError, invalidParameter } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import { openConfig, readStatuses, readStored, type SinkBook } from './book.js';
import { checkConfig, type Fields } from './check-config.js';
import { kindOf, type SinkType } from './kinds.js';
import { SINK_ERRORS, SinkRecord, SINKS } from './layout.js';
import { MASK, showSink, type DeletedSink, type Sink } from './views.js';

export interface NewSink {
  readonly type: SinkType;
  readonly label: string;
  readonly enabled: boolean;
  readonly config: Fields;
}

/** What is absent stays. Fields of `config` are merged; null takes one away (D27). */
export interface SinkEdit {
  readonly type?: SinkType | null | undefined;
  readonly label?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly config?: Fields | null | undefined;
}

/** Two who change one sink at once: the later wins, and neither is told to try again but under a storm. */
const MOST_TRIES = 20;

export const createSink = async (
  book: SinkBook,
  organizationId: string,
  { type, label, enabled, config: given }: NewSink,
  { also }: ChangeOptions<Sink> = {},
): Promise<Sink> => {
  const id = newId('exp');
  const now = nowText(book);
  const config = checkConfig(type, withMasksOpened(type, given, {}), book.rules);
  const record: SinkRecord = {
    type,
    label,
    enabled,
    ...sealConfig(book, organizationId, id, type, config),
    created_at: now,
    updated_at: now,
  };
  const sink = showSink(id, record);
  const refusal = await commitWith(
    book.records,
    organizationId,
    [
      { op: 'room', collection: SINKS, max: book.maxSinks },
      { op: 'put', collection: SINKS, id, value: record, expect: 'absent' },
    ],
    also?.(sink) ?? [],
  );
  if (refusal?.reason === 'full')
    throw new GatewayError(
      'resource_limit_exceeded',
      `The organization may hold at most ${book.maxSinks} exports.`,
    );
  if (refusal) throw new Error(`${id} exists already.`);
  return sink;
};

export const updateSink = async (
  book: SinkBook,
  organizationId: string,
  id: string,
  edit: SinkEdit,
  { also }: ChangeOptions<Sink> = {},
): Promise<Sink> => {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const stored = await readStored(book, organizationId, id);
    const before = readRecord(SinkRecord, stored);
    const [status] = await readStatuses(book, organizationId, [id]);
    const record = applyEdit(book, organizationId, id, before, edit);
    const sink = showSink(id, record, status);
    const steps =
      record === before
        ? []
        : [{ op: 'put', collection: SINKS, id, value: record, expect: stored.revision } as const];
    const joined = also?.(sink) ?? [];
    if (steps.length + joined.length === 0) return sink;
    if ((await commitWith(book.records, organizationId, steps, joined)) === null) return sink;
  }
  throw new GatewayError('revision_conflict', 'The export is being changed by others. Try again.');
};

export const deleteSink = async (
  book: SinkBook,
  organizationId: string,
  id: string,
  { also }: ChangeOptions<DeletedSink> = {},
): Promise<DeletedSink> => {
  await readStored(book, organizationId, id);
  const marker: DeletedSink = { id, object: 'policy_gateway.export.deleted', deleted: true };
  await commitWith(
    book.records,
    organizationId,
    [
      { op: 'delete', collection: SINK_ERRORS, id, expect: 'any' },
      { op: 'delete', collection: SINKS, id, expect: 'any' },
    ],
    also?.(marker) ?? [],
  );
  return marker;
};

/** The record after an edit; the very same where nothing changes. */
const applyEdit = (
  book: SinkBook,
  organizationId: string,
  id: string,
  before: SinkRecord,
  edit: SinkEdit,
): SinkRecord => {
  const { type } = before;
  if (edit.type && edit.type !== type) throw invalidParameter('type', `is ${type} and cannot be changed.`);
  const label = edit.label ?? before.label;
  const enabled = edit.enabled ?? before.enabled;
  const config = edit.config
    ? editConfig(book, type, openConfig(book, organizationId, id, before), edit.config)
    : null;
  if (!config && label === before.label && enabled === before.enabled) return before;
  const now = nowText(book);
  return {
    ...before,
    label,
    enabled,
    ...(config && sealConfig(book, organizationId, id, type, config)),
    updated_at: now > before.updated_at ? now : before.updated_at,
  };
};

/** The configuration after an edit; null where it stays as it is. */
const editConfig = (book: SinkBook, type: SinkType, before: Fields, given: Fields): Fields | null => {
  const opened = withMasksOpened(type, given, before);
  const after = checkConfig(type, { ...before, ...opened }, book.rules);
  if (isDeepStrictEqual(after, before)) return null;
  const { destination, secrets } = kindOf(type);
  if (destination.some((field) => after[field] !== before[field]))
    for (const field of secrets)
      if (after[field] !== undefined && (given[field] === undefined || given[field] === MASK))
        throw invalidParameter(`config.${field}`, 'must be sent again, because the destination changes.');
  return after;
};

/** What was sent, with the stored secrets in place of their masks. */
const withMasksOpened = (type: SinkType, given: Fields, stored: Fields): Fields => {
  const opened = { ...given };
  for (const field of kindOf(type).secrets)
    if (given[field] === MASK) {
      if (stored[field] === undefined)
        throw invalidParameter(`config.${field}`, 'is not stored yet: send the secret itself.');
      opened[field] = stored[field];
    }
  return opened;
};

const sealConfig = (
  { vault }: SinkBook,
  organizationId: string,
  sinkId: string,
  type: SinkType,
  config: Fields,
): Pick<SinkRecord, 'config' | 'secrets'> => {
  const isSecret = new Set(kindOf(type).secrets);
  const shown = Object.entries(config).filter(([field]) => !isSecret.has(field));
  const sealed = Object.entries(config).flatMap(([field, value]) =>
    isSecret.has(field) && typeof value === 'string'
      ? [[field, vault.seal(value, { organizationId, sinkId, field })] as const]
      : [],
  );
  return { config: Object.fromEntries(shown), secrets: Object.fromEntries(sealed) };
};

const nowText = ({ clock }: SinkBook): string => new Date(clock.nowMs()).toISOString();
