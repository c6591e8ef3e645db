import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../core/log.js';
import { loadConfig, type Loaded } from './load.js';
import type { Environment } from './references.js';
import type { Config } from './schema.js';

export interface ReloadOptions {
  readonly file: string;
  readonly environment: Environment;
  readonly log: Log;
  /** Takes a valid configuration into use; throws when it cannot, and then the old one must still be in force. */
  readonly apply: (config: Config) => Promise<void>;
  /** Told of a configuration that has faults: it never comes to `apply`. */
  readonly onFaults: () => void;
  /** How often to look at the files. A change counts once it has stood still for one look. */
  readonly everyMs?: number;
}

export type Outcome = 'applied' | 'unchanged' | 'kept';

export interface Reloader {
  /** Reads everything anew, secrets and certificates included, whether or not a file looks changed. */
  reload(): Promise<Outcome>;
  close(): void;
}

/**
 * Keeps a running gateway on the newest valid configuration. Looks at the files' metadata instead of subscribing to
 * changes: this survives editors that rename, swapped symbolic links (Kubernetes), deletion and network file systems.
 */
export function watchConfig(loaded: Loaded, options: ReloadOptions): Reloader {
  const { file, environment, log, apply, onFaults, everyMs = 1_000 } = options;
  let current = loaded.config;
  let files: readonly string[] = loaded.files;
  // Unknown at first, so that a change made while the gateway was starting is read as well.
  let known: string | null = null;
  let moving: string | null = null;
  let looking = false;
  let queue: Promise<unknown> = Promise.resolve();

  const read = async (asked: boolean): Promise<Outcome> => {
    const first = known === null;
    known = await fingerprint(files);
    const result = await loadConfig(file, environment);
    if ('faults' in result) {
      for (const { line, column, path, message } of result.faults)
        log.error({ file, line, column }, path === '' ? message : `${path}: ${message}`);
      log.error(
        { file, count: result.faults.length },
        'the configuration has faults; the old one stays in force',
      );
      onFaults();
      return 'kept';
    }
    if (!isDeepStrictEqual(result.files, files)) {
      files = result.files;
      known = await fingerprint(files);
    }
    if (first && !asked && isDeepStrictEqual(result.config, current)) return 'unchanged';
    const cold = findColdChanges(current, result.config);
    try {
      await apply(result.config);
    } catch (error) {
      log.error(
        { file, err: error },
        'the new configuration could not be taken into use; the old one stays in force',
      );
      return 'kept';
    }
    current = result.config;
    log.info({ file }, 'the new configuration is in force');
    if (cold.length > 0) log.warn({ file, what: cold }, 'these changes wait for a restart');
    return 'applied';
  };

  const inTurn = (asked: boolean): Promise<Outcome> => {
    const turn = queue.then(() => read(asked));
    queue = turn.catch(() => undefined);
    return turn;
  };

  const look = async (): Promise<void> => {
    const seen = await fingerprint(files);
    if (seen !== known && seen === moving) await inTurn(false);
    moving = seen;
  };

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => log.error({ file, err: error }, 'the configuration could not be watched'))
      .finally(() => (looking = false));
  }, everyMs);
  timer.unref();
  return { reload: () => inTurn(true), close: () => clearInterval(timer) };
}

/** Which version of each file is there; a link is followed, so swapping it shows. */
async function fingerprint(files: readonly string[]): Promise<string> {
  const prints = files.map(async (file) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(':');
    } catch {
      return 'absent';
    }
  });
  return (await Promise.all(prints)).join('|');
}

const COLD: readonly (readonly [string, (config: Config) => unknown])[] = [
  ['server.host', ({ server }) => server.host],
  ['server.port', ({ server }) => server.port],
  ['server.admin_port', ({ server }) => server.admin_port],
  ['server.tls', ({ server }) => server.tls === null],
  ['store', ({ store }) => store],
  ['auth.pepper', ({ auth }) => auth.pepper],
  ['audit.durability', ({ audit }) => audit.durability],
  ['audit.retention', ({ audit }) => audit.retention],
  ['audit.spool', ({ audit }) => audit.spool],
  ['sinks', ({ sinks }) => sinks],
  ['telemetry.logs.format', ({ telemetry }) => telemetry.logs.format],
];

/** What listens, stores or hashes is built once. */
const findColdChanges = (from: Config, to: Config): string[] =>
  COLD.filter(([, part]) => !isDeepStrictEqual(part(from), part(to))).map(([name]) => name);
