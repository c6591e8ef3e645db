const SLICE_MS = 6;

/** Work that may be interrupted wherever it yields. */
export type Sliced<T> = Generator<undefined, T, undefined>;

export const runAtOnce = <T>(work: Sliced<T>): T => {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
};

/** The same work in slices of a few milliseconds, so that the loop serves others in between. */
export const runInSlices = async <T>(work: Sliced<T>): Promise<T> => {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
};
