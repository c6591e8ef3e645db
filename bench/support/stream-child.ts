import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Measures } from './measures.js';

export interface StreamChild {
  readonly port: number;
  measure(collectFirst?: 'gc'): Promise<Measures>;
  stop(): void;
}

/** Starts a file beside this one in a process of its own; its output goes nowhere. */
export const startStreamChild = async (file: string, ...args: readonly string[]): Promise<StreamChild> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--expose-gc'],
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it listened`)));
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  ended.catch(() => undefined);
  return {
    port,
    async measure(collectFirst) {
      child.send(collectFirst ?? 'now');
      const [measures] = (await once(child, 'message')) as [Measures];
      return measures;
    },
    stop: () => child.kill(),
  };
};
