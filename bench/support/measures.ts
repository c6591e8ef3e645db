import { readFileSync } from 'node:fs';

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** CPU time of this process, every thread of it. */
export const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** CPU time of the main thread alone, where the system tells of it. */
export const mainCpuUs = (): number => {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  } catch {
    return cpuUs();
  }
};

/** What a child process tells of itself. */
export interface Measures {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** Answers every message of the parent; the message `gc` collects first, where the process was started to allow it. */
export const tellMeasures = (): void => {
  process.on('message', (message) => {
    if (message === 'gc') globalThis.gc?.();
    process.send!({ cpuUs: cpuUs(), rssBytes: process.memoryUsage.rss() } satisfies Measures);
  });
  process.on('disconnect', () => process.exit(0));
};
