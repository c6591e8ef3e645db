/** What a child process tells of itself. */
export interface Measures {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** Answers every message of the parent; the message `gc` collects first, where the process was started to allow it. */
export const tellMeasures = (): void => {
  process.on('message', (message) => {
    if (message === 'gc') globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    process.send!({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() } satisfies Measures);
  });
  process.on('disconnect', () => process.exit(0));
};
