import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient } from './connect.js';

const DEFAULT_WAIT_MS = 250;
const MOST_RESENDS = 3;
const PAUSE_MS = 5;

/**
 * Sends a call again when its connection was cut or nothing came back (D50): most such losses are over in
 * milliseconds. Only for calls that may arrive twice.
 */
export const resending =
  (client: RedisClient, waitMs = DEFAULT_WAIT_MS) =>
  async <T>(call: () => Promise<T>): Promise<T> => {
    const giveUpMs = performance.now() + waitMs;
    for (let resends = 0; ; resends++) {
      try {
        return await call();
      } catch (error) {
        const isAnswer = (error as Error).name === 'ReplyError';
        const isLate = resends > 0 && performance.now() > giveUpMs;
        if (isAnswer || isLate || resends === MOST_RESENDS) throw error;
        // The client may not have noticed yet that its connection is gone.
        await sleep(PAUSE_MS);
        if (!(await isReadyWithin(client, giveUpMs - performance.now()))) throw error;
      }
    }
  };

const isReadyWithin = (client: RedisClient, waitMs: number): Promise<boolean> => {
  if (client.status === 'ready') return Promise.resolve(true);
  if (waitMs <= 0) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (ready: boolean): void => {
      clearTimeout(timer);
      client.off('ready', onReady);
      resolve(ready);
    };
    const onReady = (): void => done(true);
    const timer = setTimeout(() => done(false), waitMs);
    client.on('ready', onReady);
  });
};
