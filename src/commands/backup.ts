import { silentLog } from '../core/log.js';
import { backupEmbedded } from '../io/records/backup.js';
import { backupRedis } from '../io/records/redis-backup.js';
import { redisOptions, storeFolder } from '../store.js';
import { configOption, jsonOption, OK, readConfig, UsageError, type Command } from './command.js';
import { formatJson } from './table.js';

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
        : backupEmbedded({ path: folder, to });
    const secret = folder === null ? '' : ' It holds the pepper: keep it as safe as the store.';
    terminal.out(
      input.switches.has('json')
        ? formatJson({ to, kind: config.store.kind, ...size })
        : `The backup is in ${to}.${secret}`,
    );
    return OK;
  },
};
