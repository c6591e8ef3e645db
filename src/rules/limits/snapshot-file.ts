import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../core/log.js';

export const SNAPSHOT = 'limits.snapshot';
const PAUSE_MS = 1_000;
/** Writing takes at most this share of the time. */
const SHARE = 0.02;

export interface SnapshotFile {
  /** What was kept last; null = nothing yet. */
  readonly bytes: Buffer | null;
  /** Something changed: it is written within a second, or later where a snapshot is dear. */
  touch(): void;
  close(): Promise<void>;
}

export const openSnapshotFile = async (
  folder: string,
  take: () => Buffer,
  log: Log,
): Promise<SnapshotFile> => {
  const path = join(folder, SNAPSHOT);
  const bytes = await readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });

  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let isDirty = false;
  let isClosed = false;
  let pauseMs = PAUSE_MS;

  const write = async (): Promise<void> => {
    isDirty = false;
    const fromMs = performance.now();
    try {
      const taken = take();
      pauseMs = Math.max(PAUSE_MS, (performance.now() - fromMs) / SHARE);
      await replaceFile(path, taken);
    } catch (error) {
      isDirty = true;
      log.error({ err: error }, 'The limits could not be written to their file.');
    }
  };
  const plan = (): void => {
    if (timer || writing || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      writing = write().finally(() => {
        writing = null;
        if (isDirty) plan();
      });
    }, pauseMs);
    timer.unref();
  };
  return {
    bytes,
    touch: () => {
      isDirty = true;
      plan();
    },
    close: async () => {
      isClosed = true;
      if (timer) clearTimeout(timer);
      await writing;
      if (isDirty) await write();
    },
  };
};

/** The old file or the new one, never half of one. */
const replaceFile = async (path: string, bytes: Buffer): Promise<void> => {
  const draft = `${path}.draft`;
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};
