import type { Clock } from '../../core/clock.js';
import { GatewayError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { commitWith, type ChangeOptions } from '../../io/records/join.js';
import { readRecord } from '../../io/records/read-record.js';
import type { Page, Records, Step, Stored } from '../../io/records/records.js';
import { defaultConfig, fillDefaults, readConfig, type GatewayConfig } from './config.js';
import {
  CONFIG_ID,
  ConfigHead,
  ConfigRecord,
  GATEWAY,
  HISTORY,
  HISTORY_CHARACTERS,
  MOST_REVISIONS,
  REVISION_PREFIX,
  RevisionRecord,
} from './layout.js';

/** What every function on configurations works with. */
export interface ConfigBook {
  readonly records: Records;
  readonly clock: Clock;
}

/** The configuration of an organization; revision 0 = none was ever stored. */
export interface StoredConfig {
  readonly revision: number;
  readonly config: GatewayConfig;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** One of the configurations an organization has had. */
export interface ConfigRevision {
  readonly id: string;
  readonly object: 'policy_gateway.config.revision';
  readonly revision: number;
  readonly config: GatewayConfig;
  readonly created_at: string;
}

type Index = ConfigHead['history'];

/** Others who save at the same moment: each try loses to one of them at most. */
const MOST_TRIES = 20;

const unset: StoredConfig = { revision: 0, config: defaultConfig, created_at: null, updated_at: null };

export const getConfig = async (
  { records }: Pick<ConfigBook, 'records'>,
  organizationId: string,
): Promise<StoredConfig> => {
  const stored = await records.get(organizationId, GATEWAY, CONFIG_ID);
  if (!stored) return unset;
  const { config, created_at, updated_at } = readRecord(ConfigRecord, stored);
  return { revision: stored.revision, config: fillDefaults(config), created_at, updated_at };
};

/** Saves a configuration and its revision in one commit. The last one who saves wins; nobody's revision is lost. */
export const saveConfig = async (
  book: ConfigBook,
  organizationId: string,
  config: GatewayConfig,
  options: ChangeOptions<StoredConfig> = {},
): Promise<StoredConfig> => {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await book.records.get(organizationId, GATEWAY, CONFIG_ID);
    const saved = await tryToSave(book, organizationId, config, before, options);
    if (saved) return saved;
  }
  throw new GatewayError('revision_conflict', 'The configuration keeps changing. Try again.');
};

/** null = somebody was quicker. What was stored before is not looked at: it may be what is to be mended. */
const tryToSave = async (
  { records, clock }: ConfigBook,
  organizationId: string,
  config: GatewayConfig,
  before: Stored | null,
  { also }: ChangeOptions<StoredConfig>,
): Promise<StoredConfig | null> => {
  const head = before && readRecord(ConfigHead, before);
  const revision = (before?.revision ?? 0) + 1;
  const now = laterOf(new Date(clock.nowMs()).toISOString(), head?.updated_at ?? '');
  const created_at = head?.created_at ?? now;
  const id = newId(REVISION_PREFIX);
  const entry = { id, characters: JSON.stringify(config).length };
  const { kept, dropped } = trim([...(head?.history ?? []), entry]);
  const steps: readonly Step[] = [
    {
      op: 'put',
      collection: GATEWAY,
      id: CONFIG_ID,
      value: { config, created_at, updated_at: now, history: kept } satisfies ConfigRecord,
      expect: before?.revision ?? 'absent',
    },
    {
      op: 'put',
      collection: HISTORY,
      id,
      value: { revision, config, created_at: now } satisfies RevisionRecord,
      expect: 'absent',
    },
    ...dropped.map((old): Step => ({ op: 'delete', collection: HISTORY, id: old.id, expect: 'any' })),
  ];
  const saved: StoredConfig = { revision, config, created_at, updated_at: now };
  return (await commitWith(records, organizationId, steps, also?.(saved) ?? [])) ? null : saved;
};

/** ISO timestamps sort as text. A clock that steps back makes nothing older than what it changed. */
const laterOf = (one: string, other: string): string => (one > other ? one : other);

/** The newest revisions that fit. */
const trim = (history: Index): { readonly kept: Index; readonly dropped: Index } => {
  let from = history.length - 1;
  let characters = history[from]?.characters ?? 0;
  while (from > 0 && history.length - from < MOST_REVISIONS) {
    characters += history[from - 1]!.characters;
    if (characters > HISTORY_CHARACTERS) break;
    from--;
  }
  return { kept: history.slice(from), dropped: history.slice(0, from) };
};

export const listConfigHistory = async (
  { records }: Pick<ConfigBook, 'records'>,
  organizationId: string,
  page: Page,
): Promise<{ readonly items: readonly ConfigRevision[]; readonly hasMore: boolean }> => {
  const { items, hasMore } = await records.list(organizationId, HISTORY, page);
  return {
    items: items.map((stored) => {
      const { revision, config, created_at } = readRecord(RevisionRecord, stored);
      return {
        id: stored.id,
        object: 'policy_gateway.config.revision',
        revision,
        config: fillDefaults(config),
        created_at,
      };
    }),
    hasMore,
  };
};

/** Stores a configuration where there is none; any number of replicas may do it at once. */
export const seedConfig = async (
  book: ConfigBook,
  organizationId: string,
  given: unknown,
): Promise<boolean> => {
  if (await book.records.get(organizationId, GATEWAY, CONFIG_ID)) return false;
  let config: GatewayConfig;
  try {
    config = readConfig(given);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new Error(`The gateway configuration of ${organizationId} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
  return (await tryToSave(book, organizationId, config, null, {})) !== null;
};
