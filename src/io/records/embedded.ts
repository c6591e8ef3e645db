import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { silentLog } from '../../core/log.js';
import type { Log } from '../../core/log.js';
import { ChangeFeed } from './change-feed.js';
import type { EmbeddedStore, Row, RowStep } from './embedded-store.js';
import type { Answer, Request, StoreMethod, WorkerMessage } from './embedded-worker.js';
import { checkCollection, checkId, checkPartition, checkPlace, checkSteps } from './names.js';
import { StoreUnavailable } from './records.js';
import type { Change, Committed, Page, Pointer, Records, Step, Stored } from './records.js';

export interface EmbeddedRecordsOptions {
  /** The folder; ":memory:" keeps nothing. */
  readonly path: string;
  readonly log?: Log;
}

export const DATABASE_FILE = 'sluice.db';

/** Records in a SQLite file that a worker thread owns, so that waiting for the disk never holds up a request. */
export async function openEmbeddedRecords({ path, log }: EmbeddedRecordsOptions): Promise<Records> {
  const file = path === ':memory:' ? path : prepareFile(path);
  const worker = new Worker(new URL('./embedded-worker.js', import.meta.url), {
    workerData: { file },
    name: 'records',
  });
  const records = new EmbeddedRecords(worker, log ?? silentLog);
  await records.opened;
  return records;
}

/** SQLite gives its side files the mode of the main file, so that one is made first. */
function prepareFile(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const file = join(path, DATABASE_FILE);
  closeSync(openSync(file, 'a', 0o600));
  return file;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: StoreUnavailable) => void;
}

class EmbeddedRecords implements Records {
  readonly opened: Promise<void>;
  readonly #worker: Worker;
  readonly #feed: ChangeFeed;
  readonly #owner = randomBytes(9).toString('base64url');
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #settleOpening: (error?: Error) => void = () => {};
  #seq = 0;
  #fault: Error | null = null;

  constructor(worker: Worker, log: Log) {
    this.#worker = worker;
    this.#feed = new ChangeFeed(log);
    worker.on('message', (message: WorkerMessage) => this.#receive(message));
    worker.on('error', (error) => this.#fail(error));
    this.opened = new Promise((resolve, reject) => {
      this.#settleOpening = (error) => (error ? reject(error) : resolve());
    });
    this.#ended = new Promise((resolve) => {
      worker.on('exit', () => {
        this.#fail(new Error('The worker of the store has ended.'));
        resolve();
      });
    });
  }

  async get(partition: string, collection: string, id: string): Promise<Stored | null> {
    checkPlace(partition, collection, id);
    return decode(await this.#ask('get', partition, collection, id));
  }

  async list(partition: string, collection: string, page: Page) {
    checkPartition(partition);
    checkCollection(collection);
    const rows = await this.#ask('list', partition, collection, page);
    const hasMore = rows.length > page.limit;
    return { items: rows.slice(0, page.limit).map((row) => decode(row)), hasMore };
  }

  async commit(partition: string, steps: readonly Step[]): Promise<Committed> {
    checkSteps(partition, steps);
    const committed = await this.#ask('commit', partition, steps.map(encode));
    if (!committed.ok) return { ...committed, current: decode(committed.current) };
    for (const step of steps)
      if (step.op === 'put' || step.op === 'delete')
        this.#feed.tell({ partition, collection: step.collection, id: step.id });
    return committed;
  }

  async generation(partition: string): Promise<number> {
    checkPartition(partition);
    return this.#ask('generation', partition);
  }

  async find(digest: string): Promise<Pointer | null> {
    checkId(digest);
    return this.#ask('find', digest);
  }

  async claim(name: string, ttlMs: number): Promise<boolean> {
    checkId(name);
    return this.#ask('claim', name, this.#owner, ttlMs);
  }

  async unclaim(name: string): Promise<void> {
    checkId(name);
    await this.#ask('unclaim', name, this.#owner);
  }

  async noteUses(partition: string, uses: ReadonlyMap<string, number>): Promise<void> {
    checkPartition(partition);
    await this.#ask('noteUses', partition, [...uses]);
  }

  async lastUses(partition: string, ids: readonly string[]): Promise<readonly (number | null)[]> {
    checkPartition(partition);
    return this.#ask('lastUses', partition, ids);
  }

  watch(listener: (change: Change) => void): () => void {
    return this.#feed.watch(listener);
  }

  async ping(): Promise<void> {
    await this.#ask('ping');
  }

  async close(): Promise<void> {
    this.#feed.clear();
    if (this.#fault === null) {
      this.#fault = new Error('The store is closed.');
      this.#worker.ref();
      this.#worker.postMessage('close');
    }
    await this.#ended;
  }

  #ask<M extends StoreMethod>(
    method: M,
    ...args: Parameters<EmbeddedStore[M]>
  ): Promise<ReturnType<EmbeddedStore[M]>> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== null) {
        reject(new StoreUnavailable(this.#fault));
        return;
      }
      const seq = this.#seq++;
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(seq, { resolve, reject });
      this.#worker.postMessage({ seq, method, args } satisfies Request);
    });
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'foreign change') this.#feed.tell(null);
    else if (message.kind === 'refused') this.#fail(new Error(message.reason));
    else if (message.kind === 'ready') this.#settleOpening();
    else for (const answer of message.answers) this.#answer(answer);
    // Only waiting calls hold the process; the worker alone does not.
    if (this.#waiting.size === 0 && this.#fault === null) this.#worker.unref();
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.seq);
    this.#waiting.delete(answer.seq);
    if ('fault' in answer) waiting?.reject(new StoreUnavailable(new Error(answer.fault)));
    else waiting?.resolve(answer.result as never);
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#settleOpening(error);
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(error));
    this.#waiting.clear();
  }
}

const encode = (step: Step): RowStep => {
  if (step.op !== 'put') return step;
  const { value, ...rest } = step;
  return { ...rest, json: JSON.stringify(value) };
};

function decode(row: Row): Stored;
function decode(row: Row | null): Stored | null;
function decode(row: Row | null): Stored | null {
  if (row === null) return null;
  return { id: row.id, revision: row.revision, value: JSON.parse(row.json) as Stored['value'] };
}
