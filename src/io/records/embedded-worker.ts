import { parentPort, workerData } from 'node:worker_threads';
import { EmbeddedStore } from './embedded-store.js';
import { migrate, readMigrations } from './migrate.js';
import { openDatabase } from './sqlite.js';
import type { Database } from './sqlite.js';

/** What may be asked of the worker: the methods of the store, by name. */
export type StoreMethod = Exclude<keyof EmbeddedStore, 'dataVersion' | 'prune'>;

export interface Request {
  readonly seq: number;
  readonly method: StoreMethod;
  readonly args: readonly unknown[];
}

export type Answer =
  { readonly seq: number; readonly result: unknown } | { readonly seq: number; readonly fault: string };

export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }
  | { readonly kind: 'foreign change' };

const WRITES: ReadonlySet<StoreMethod> = new Set(['commit', 'claim', 'unclaim', 'noteUses']);
const MAX_BATCH = 512;
const POLL_MS = 250;
const PRUNE_EVERY_MS = 10_000;

const port = parentPort!;
const { file } = workerData as { file: string };
const tell = (message: WorkerMessage): void => port.postMessage(message);
const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

try {
  serve(open(file));
  tell({ kind: 'ready' });
} catch (error) {
  tell({ kind: 'refused', reason: describe(error) });
  port.close();
}

function open(path: string): Database {
  const database = openDatabase(path);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    migrate(database, readMigrations());
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function serve(database: Database): void {
  const store = new EmbeddedStore(database);
  const queue: Request[] = [];
  let isScheduled = false;
  let isClosing = false;
  let version = store.dataVersion();
  let prunedAtMs = 0;

  const poll = setInterval(() => {
    try {
      const current = store.dataVersion();
      if (current !== version) tell({ kind: 'foreign change' });
      version = current;
    } catch {
      // The disk fails: whoever asks next is told; the poll goes on and sees the change when it heals.
    }
  }, POLL_MS);

  port.on('message', (request: Request | 'close') => {
    if (request === 'close') isClosing = true;
    else queue.push(request);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(drain);
  });

  /** All that waits shares one transaction, hence one fsync; nobody is answered before it is on disk. */
  function drain(): void {
    const batch = queue.splice(0, MAX_BATCH);
    const hasWrites = batch.some(({ method }) => WRITES.has(method));
    tell({ kind: 'answers', answers: hasWrites ? answerInTransaction(batch) : batch.map(answer) });
    isScheduled = queue.length > 0;
    if (isScheduled) setImmediate(drain);
    else if (isClosing) close();
  }

  function answerInTransaction(batch: readonly Request[]): Answer[] {
    try {
      database.exec('BEGIN IMMEDIATE');
      const answers = batch.map(answer);
      pruneNowAndThen();
      database.exec('COMMIT');
      return answers;
    } catch (error) {
      rollBack();
      return batch.map(({ seq }) => ({ seq, fault: describe(error) }));
    }
  }

  function answer({ seq, method, args }: Request): Answer {
    try {
      const calls = store as unknown as Record<StoreMethod, (...values: readonly unknown[]) => unknown>;
      return { seq, result: calls[method](...args) };
    } catch (error) {
      return { seq, fault: describe(error) };
    }
  }

  function pruneNowAndThen(): void {
    const now = Date.now();
    if (now - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = now;
    store.prune();
  }

  function rollBack(): void {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  function close(): void {
    clearInterval(poll);
    database.close();
    port.close();
  }
}
