import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import type { Counted, Job, Vocabulary } from './tokenizer-worker.js';

export type { Vocabulary };

/** Counts tokens in a thread of its own; null = it could not, or not in time. Never throws. */
export interface TextTokenizer {
  readonly count: (texts: readonly string[], vocabulary: Vocabulary) => Promise<number | null>;
  readonly close: () => Promise<void>;
}

export interface TokenizerOptions {
  readonly log: Log;
  /** Counts that may wait for the thread; one more is not counted. */
  readonly maxWaiting?: number;
  /** How long a caller waits, for its turn as well. */
  readonly deadlineMs?: number;
  /** How long the thread works on one count before it takes the rest to be alike. */
  readonly budgetMs?: number;
  /** A thread that is busy for this long with one count is replaced; loading a vocabulary may take a while. */
  readonly hangMs?: number;
  readonly module?: URL;
}

/** What is handed to the thread at most: copying costs the caller's thread. */
const MOST_UNITS = 2 * 1024 * 1024;
const HEAP_MB = 256;

interface Waiting {
  readonly job: Job;
  settle(tokens: number | null): void;
}

/** As many of the texts as may be handed over, and by how much the whole is longer. */
const bounded = (texts: readonly string[]): { readonly texts: readonly string[]; readonly scale: number } => {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units <= MOST_UNITS) return { texts, scale: 1 };
  let left = MOST_UNITS;
  const some = texts.map((text) => {
    const part = text.slice(0, left);
    left -= part.length;
    return part;
  });
  return { texts: some, scale: units / MOST_UNITS };
};

/** One thread for the whole process, started with the first count and again after a crash. */
export const createTokenizer = (options: TokenizerOptions): TextTokenizer => {
  const { log, maxWaiting = 64, deadlineMs = 3_000, budgetMs = 1_000, hangMs = 30_000 } = options;
  const module = options.module ?? new URL('./tokenizer-worker.js', import.meta.url);
  const queue: Waiting[] = [];
  let thread: Worker | null = null;
  let active: Waiting | null = null;
  let hang: NodeJS.Timeout | null = null;
  let closed = false;

  const finish = (tokens: number | null): void => {
    if (hang) clearTimeout(hang);
    hang = null;
    active?.settle(tokens);
    active = null;
  };

  /** What was under way is lost with its thread; what waits gets a new one. */
  const lose = (lost: Worker, reason: unknown): void => {
    if (thread !== lost) return;
    thread = null;
    log.warn({ err: reason }, 'the tokenizer ended; the next count starts it again');
    finish(null);
    next();
  };

  const start = (): Worker => {
    const started = new Worker(module, {
      name: 'tokenizer',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    started.on('message', (counted: Counted) => {
      if (thread !== started) return;
      if ('fault' in counted) log.warn({ err: new Error(counted.fault) }, 'a count failed');
      finish('tokens' in counted ? counted.tokens : null);
      next();
    });
    started.on('error', (error) => lose(started, error));
    started.on('exit', (code) => lose(started, new Error(`The thread exited with ${code}.`)));
    return started;
  };

  const next = (): void => {
    if (active) return;
    active = queue.shift() ?? null;
    // Only a count under way holds the process; the thread alone does not.
    if (!active) {
      thread?.unref();
      return;
    }
    const worker = (thread ??= start());
    worker.ref();
    hang = setTimeout(() => {
      lose(worker, new Error('A count took too long.'));
      void worker.terminate();
    }, hangMs);
    worker.postMessage(active.job);
  };

  return {
    count(given, vocabulary) {
      if (closed || queue.length >= maxWaiting) return Promise.resolve(null);
      const { texts, scale } = bounded(given);
      return new Promise((resolve) => {
        const waiting: Waiting = {
          job: { vocabulary, texts, budgetMs },
          settle: (tokens) => {
            clearTimeout(timer);
            resolve(tokens === null ? null : Math.ceil(tokens * scale));
          },
        };
        const timer = setTimeout(() => {
          const place = queue.indexOf(waiting);
          if (place >= 0) queue.splice(place, 1);
          resolve(null);
        }, deadlineMs);
        queue.push(waiting);
        next();
      });
    },
    async close() {
      closed = true;
      for (const waiting of queue.splice(0)) waiting.settle(null);
      const last = thread;
      thread = null;
      finish(null);
      await last?.terminate();
    },
  };
};
