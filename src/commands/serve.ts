import { tmpdir } from 'node:os';
import { formatFault } from '../config/faults.js';
import { loadConfig } from '../config/load.js';
import { watchConfig } from '../config/reload.js';
import type { Config } from '../config/schema.js';
import { servedBy } from '../config/served-by.js';
import type { MadeKey } from '../gateway.js';
import { storeFolder } from '../store.js';
import { ConfigError, configFile, configOption, type Command } from './command.js';
import { liveUntilStopped } from './life.js';
import { readVersion } from './shipped.js';
import { welcome } from './welcome.js';

/** A model to show in examples: the simulator's where there is one, since it costs nothing. */
const exampleModel = ({ models, providers }: Config): string => {
  const named = models.filter(({ name }) => !name.endsWith('*'));
  const simulated = named.find((model) =>
    servedBy(model).every((provider) => providers[provider]?.kind === 'simulator'),
  );
  return (simulated ?? named[0] ?? models[0])?.name ?? 'MODEL';
};

export const serve: Command = {
  name: 'serve',
  about: 'Run the gateway. SIGHUP reloads the configuration, SIGTERM drains and ends.',
  options: configOption,
  async run(input, terminal) {
    const file = configFile(input, terminal);
    const loaded = await loadConfig(file, terminal.environment);
    if ('faults' in loaded) throw new ConfigError(loaded.faults.map(formatFault).join('\n'));
    const { config } = loaded;
    // Loaded here, so that other commands start at once.
    const [{ startGateway }, { createLog }] = await Promise.all([
      import('../gateway.js'),
      import('../io/log/log.js'),
    ]);
    const version = readVersion();
    const log = createLog({ ...config.telemetry.logs, version });
    try {
      const gateway = await startGateway(config, { log, version });
      const { address } = gateway;
      const greet = (madeKeys: readonly MadeKey[], inForce: Config): void =>
        welcome(
          { address, secure: inForce.server.tls !== null, madeKeys, model: exampleModel(inForce) },
          storeFolder(config) ?? tmpdir(),
          terminal,
        );
      const reloader =
        file === null
          ? null
          : watchConfig(loaded, {
              file,
              environment: terminal.environment,
              log,
              onFaults: () => gateway.noteFaults(),
              apply: async (next) => {
                const madeKeys = await gateway.reload(next);
                log.setLevel(next.telemetry.logs.level);
                if (madeKeys.length > 0) greet(madeKeys, next);
              },
            });
      const ended = liveUntilStopped(
        {
          drain: () => {
            reloader?.close();
            return gateway.drain();
          },
          close: () => gateway.close(),
        },
        {
          log,
          flush: () => log.flush(),
          onHangup: reloader && (() => void reloader.reload()),
        },
      );
      // Said once signals are listened to: whoever waits for this line may send one.
      log.info({ ...address, store: config.store.kind, node: process.versions.node }, 'listening');
      greet(gateway.madeKeys, config);
      return await ended;
    } finally {
      log.flush();
    }
  },
};
