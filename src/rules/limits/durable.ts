import type { Log } from '../../core/log.js';
import type { RedisClient, RedisLink } from '../../io/redis/connect.js';

export interface DurableOptions {
  readonly link: RedisLink;
  /** Opens a further link, whose calls may take as long as the disk does. */
  readonly open: (commandTimeoutMs: number) => Promise<RedisLink>;
  readonly log: Log;
}

/** Changes that are on the disk of Redis before they are confirmed, where it can tell so. */
export interface Durable {
  change<T>(act: (client: RedisClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const WAIT_MS = 2_000; // fsync comes every second, later on a busy disk
const TIMEOUT_MS = 3_000;

const isAnswer = (error: unknown): boolean => (error as Error).name === 'ReplyError';

/** WAITAOF came with Redis 7.2. */
const offersWait = async (link: RedisLink): Promise<boolean> => {
  try {
    const told = await link.masters()[0]?.call('COMMAND', 'INFO', 'waitaof');
    return Array.isArray(told) && Array.isArray(told[0]);
  } catch (error) {
    if (isAnswer(error)) return false; // it may not be asked
    throw error;
  }
};

export const createDurable = ({ link, open, log }: DurableOptions): Durable => {
  let opening: Promise<RedisLink | null> | null = null;
  /** Waiting holds up whatever follows on a connection, so it has its own; null = there is nothing to wait for. */
  const ownLink = async (): Promise<RedisLink | null> => {
    opening ??= offersWait(link).then((offers) => (offers ? open(TIMEOUT_MS) : null));
    try {
      return await opening;
    } catch {
      opening = null;
      return null;
    }
  };

  const waitFor = async (own: RedisLink): Promise<void> => {
    try {
      // In a Cluster the masters that were not written to answer at once.
      const replies = await Promise.all(own.masters().map((each) => each.call('WAITAOF', 1, 0, WAIT_MS)));
      if (replies.some((reply) => Array.isArray(reply) && reply[0] === 0))
        log.warn({}, 'A change of credits is not on the disk of Redis yet.');
    } catch (error) {
      // An answer says that Redis keeps no file.
      if (!isAnswer(error)) log.warn({ err: error }, 'Whether a change of credits is on disk is not known.');
    }
  };

  return {
    change: async (act) => {
      const own = await ownLink();
      if (!own) return act(link.client);
      const result = await act(own.client);
      await waitFor(own);
      return result;
    },
    close: async () => {
      const own = await opening?.catch(() => null);
      await own?.close();
    },
  };
};
