import type { Clock } from '../../core/clock.js';
import { json, type Call, type JsonReply } from '../../core/exchange.js';
import { fillDefaults } from '../../rules/policy-gateway/config.js';
import { revisionFacts } from '../../rules/policy-gateway/facts.js';
import { REVISION_PREFIX } from '../../rules/policy-gateway/layout.js';
import {
  getConfig,
  listConfigHistory,
  saveConfig,
  type StoredConfig,
} from '../../rules/policy-gateway/store.js';
import { mutate, type MutationParts, type Outcome } from '../administration/mutate.js';
import { envelope, readPage } from '../administration/paging.js';
import { parseBody } from '../administration/parse.js';
import { actorOf } from './actor.js';
import { NewGatewayConfig } from './config-schemas.js';

export interface ConfigParts extends MutationParts {
  readonly clock: Clock;
}

/** The gateway configuration of an organization (seed 4.7, D17). */
export const createConfigDoors = (parts: ConfigParts) => ({
  get: async (call: Call): Promise<JsonReply> =>
    json(show(await getConfig(parts, call.principal.organization.id))),

  save: async (call: Call): Promise<JsonReply> => {
    const config = fillDefaults(parseBody(NewGatewayConfig, call.body).config);
    return mutate(call, parts, async (also) => {
      const outcomeOf = (stored: StoredConfig): Outcome => ({
        body: show(stored),
        facts: revisionFacts(actorOf(call), config, stored.revision),
      });
      const saved = await saveConfig(parts, call.principal.organization.id, config, {
        also: (stored) => also(outcomeOf(stored)),
      });
      return outcomeOf(saved);
    });
  },

  history: async (call: Call): Promise<JsonReply> => {
    const page = readPage(call, REVISION_PREFIX);
    const { items, hasMore } = await listConfigHistory(parts, call.principal.organization.id, page);
    return json(envelope(items, hasMore));
  },
});

export type ConfigDoors = ReturnType<typeof createConfigDoors>;

const show = ({ config, created_at, updated_at }: StoredConfig) => ({ config, created_at, updated_at });
