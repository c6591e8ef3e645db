import { silentLog } from '../core/log.js';
import { backupEmbedded, restoreEmbedded } from '../io/records/backup.js';
import { backupRedis, restoreRedis } from '../io/records/redis-backup.js';
import { SNAPSHOT } from '../rules/limits/snapshot-file.js';
import { redisOptions, storeFolder } from '../store.js';
import { configOption, jsonOption, OK, readConfig, UsageError, type Command } from './command.js';
import { formatJson } from './table.js';

/** Files beside the records without which they are of no use, or tell another balance. */
const companions = ['pepper', SNAPSHOT];

export const backup: Command = {
  name: 'backup',
  about: 'Copy the store as it is at one instant, while gateways may be running. TO must not exist yet.',
  arguments: ['TO'],
  options: { ...jsonOption, ...configOption },
  async run(input, terminal) {
    const [to] = input.arguments as [string];
    const config = await readConfig(input, terminal);
    const folder = storeFolder(config);
    if (folder === null && config.store.kind === 'embedded')
      throw new UsageError('a store in memory cannot be backed up');
    const size =
      folder === null
        ? await backupRedis({
            ...redisOptions(config, silentLog),
            keyPrefix: config.store.redis.key_prefix,
            to,
          })
        : backupEmbedded({ path: folder, to, companions });
    const secret = folder === null ? '' : ' It holds the pepper: keep it as safe as the store.';
    terminal.out(
      input.switches.has('json')
        ? formatJson({ to, kind: config.store.kind, ...size })
        : `The backup is in ${to}.${secret}`,
    );
    return OK;
  },
};

export const restore: Command = {
  name: 'restore',
  about: 'Put a backup in the place of the store. No gateway may be running on it.',
  arguments: ['FROM'],
  options: {
    replace: { about: 'put it in the place of a store that is there already' },
    ...jsonOption,
    ...configOption,
  },
  async run(input, terminal) {
    const [from] = input.arguments as [string];
    const config = await readConfig(input, terminal);
    const { kind, redis } = config.store;
    const replace = input.switches.has('replace');
    const folder = storeFolder(config);
    if (folder === null && kind === 'embedded') throw new UsageError('a store in memory cannot be restored');
    const result =
      folder === null
        ? await restoreRedis({
            ...redisOptions(config, silentLog),
            keyPrefix: redis.key_prefix,
            from,
            replace,
          })
        : restoreEmbedded({ path: folder, from, companions, replace });
    const aside =
      'setAside' in result && result.setAside !== null ? ` What was there is in ${result.setAside}.` : '';
    terminal.out(
      input.switches.has('json')
        ? formatJson({ from, kind, ...result })
        : `The store is as it was in ${from}.${aside}`,
    );
    return OK;
  },
};
