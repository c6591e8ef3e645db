import { Worker } from 'node:worker_threads';
import type { AuditFacts } from '../../core/audit.js';
import type { Log } from '../../core/log.js';
import type { Outcome, SinkSpec } from '../../core/sink.js';
import { Asked } from './asked.js';
import { AuditUnavailable, type Audit, type AuditOptions, type HistoryAnswer } from './audit.js';
import { writeBody } from './event.js';
import type { HistoryFilter } from './history.js';
import {
  PARTS_OF_AN_EVENT,
  type FromWorker,
  type Question,
  type Questions,
  type ToWorker,
  type WorkerOptions,
} from './messages.js';
import { Waiting, type OpenGroup } from './waiting.js';

const DRAIN_MS = 5_000;
const RESTART_MS = { first: 1_000, longest: 30_000 };
/** Events on their way to the worker at most: a disk that hangs must not fill the memory. */
const MOST_UNDER_WAY = 50_000;
const DONE = Promise.resolve();

/** The main thread's end of the audit trail: it writes each event's text and posts them, a turn of the loop at a time. */
export class AuditClient implements Audit {
  readonly opened: Promise<void>;
  readonly #options: AuditOptions;
  readonly #log: Log;
  readonly #unlock: () => void;
  readonly #waiting = new Waiting();
  readonly #asked = new Asked();
  readonly #missed = new Map<string, number>();
  #settleOpening: (error?: Error) => void = () => {};
  #worker: Worker | null = null;
  #group: OpenGroup | null = null;
  #specs: readonly SinkSpec[] | null = null;
  #instanceId = '';
  #isRoomy = false;
  #isOpened = false;
  #isBroken = false;
  #ended: Promise<void> | null = null;
  #whenEnded: () => void = () => {};
  #restart: NodeJS.Timeout | null = null;
  #restartMs = RESTART_MS.first;

  constructor(options: AuditOptions, log: Log, unlock: () => void) {
    this.#options = options;
    this.#log = log;
    this.#unlock = unlock;
    this.opened = new Promise((resolve, reject) => {
      this.#settleOpening = (error) => (error ? reject(error) : resolve());
    });
    this.#start();
  }

  get instanceId(): string {
    return this.#instanceId;
  }

  get open(): boolean {
    return this.#isRoomy && this.#worker !== null && this.#waiting.events < MOST_UNDER_WAY;
  }

  record(facts: AuditFacts): Promise<void> {
    const written = this.#enqueue(facts);
    return this.#options.durability === 'async' ? DONE : written;
  }

  confirm(facts: AuditFacts): Promise<void> {
    return this.#enqueue(facts);
  }

  setSinks(specs: readonly SinkSpec[]): void {
    this.#specs = specs;
    this.#flush();
    this.#post({ kind: 'sinks', specs });
  }

  trySink(spec: SinkSpec): Promise<Outcome> {
    return this.#ask('trySink', spec);
  }

  async history(organizationId: string, filter: HistoryFilter): Promise<HistoryAnswer> {
    this.#flush();
    const { events, hasMore } = await this.#ask('history', organizationId, filter);
    return { events: events.map((json) => JSON.parse(json) as Record<string, unknown>), hasMore };
  }

  erase(organizationId: string, userId: string): Promise<number> {
    this.#flush();
    return this.#ask('erase', organizationId, userId);
  }

  async close(drainMs = DRAIN_MS): Promise<void> {
    if (this.#ended === null) {
      this.#flush();
      this.#ended = this.#worker === null ? DONE : new Promise((resolve) => (this.#whenEnded = resolve));
      if (this.#restart !== null) clearTimeout(this.#restart);
      this.#worker?.ref();
      this.#post({ kind: 'close', drainMs });
    }
    await this.#ended;
    this.#unlock();
  }

  /** Never leaves a rejection unhandled: whoever does not wait for the event does not hear of it either. */
  #enqueue(facts: AuditFacts): Promise<void> {
    if (this.#worker === null || this.#ended !== null || this.#waiting.events >= MOST_UNDER_WAY) {
      this.#missUnlessKept(facts.org_id, facts.event_id);
      return refused('it is not running or too far behind');
    }
    let body: string;
    try {
      body = writeBody(facts);
    } catch {
      this.#missUnlessKept(facts.org_id, facts.event_id);
      return refused('an event cannot be written as JSON');
    }
    const group = (this.#group ??= this.#openGroup());
    group.parts.push(facts.org_id, facts.event_id ?? '', facts.created_at ?? '', body);
    this.#waiting.events++;
    return group.done;
  }

  #openGroup(): OpenGroup {
    setImmediate(() => this.#flush());
    return this.#waiting.open();
  }

  #flush(): void {
    const group = this.#group;
    if (group === null) return;
    this.#group = null;
    this.#worker?.ref();
    this.#post({ kind: 'record', group: group.id, atMs: group.atMs, parts: group.parts });
  }

  async #ask<Q extends Question>(
    question: Q,
    ...args: Parameters<Questions[Q]>
  ): Promise<ReturnType<Questions[Q]>> {
    if (this.#worker === null || this.#ended !== null) throw new AuditUnavailable('it is not running');
    this.#worker.ref();
    return this.#asked.ask<Q>((id) => this.#post({ kind: 'ask', id, question, args }));
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #start(): void {
    const { path, durability, maxBytes, minFreeBytes, retentionMs, senders } = this.#options;
    const worker = new Worker(this.#options.worker, {
      workerData: {
        folder: path,
        durability,
        maxBytes,
        minFreeBytes,
        retentionMs,
        senders,
      } satisfies WorkerOptions,
      name: 'audit',
    });
    this.#restart = null;
    let fault: Error = new AuditUnavailable('its worker has ended');
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'refused') fault = new AuditUnavailable(message.reason);
      else this.#receive(message, worker);
    });
    worker.on('error', (error) => (fault = error));
    worker.on('exit', () => this.#lose(fault));
    // Not used before it is ready, but what it is sent until then waits in its port.
    this.#worker = worker;
    if (this.#specs !== null) this.#post({ kind: 'sinks', specs: this.#specs });
    this.#tellMissed();
  }

  #receive(message: FromWorker, worker: Worker): void {
    switch (message.kind) {
      case 'ready':
        this.#instanceId = message.instanceId;
        this.#isRoomy = message.open;
        this.#restartMs = RESTART_MS.first;
        this.#isOpened = true;
        this.#settleOpening();
        break;
      case 'recorded':
        this.#waiting.settle(message.group, message.ok ? null : new AuditUnavailable('there is no room'));
        this.#tellMissed();
        break;
      case 'room':
        this.#isRoomy = message.open;
        if (message.open) this.#log.info({}, 'The audit trail takes events again.');
        else this.#log.error({}, 'The audit trail takes no more events.');
        break;
      case 'sink':
        this.#options.onSinkStatus?.(message.status);
        break;
      case 'trail':
        this.#options.onTrailStatus?.(message.status);
        break;
      case 'warning':
        this.#log.warn(message.fields, message.message);
        break;
      case 'broken':
        this.#isRoomy = false;
        this.#isBroken = true;
        for (const [organizationId, count] of message.missed) this.#miss(organizationId, count);
        break;
      case 'answer':
        this.#asked.answer(message.id, message.result);
        break;
      case 'fault':
        this.#asked.refuse(message.id, new AuditUnavailable(message.reason));
        break;
      case 'refused': // told when the worker ends
        break;
    }
    // Only those who wait hold the process; the worker alone does not.
    if (this.#isOpened && this.#ended === null && this.#waiting.events === 0 && this.#asked.size === 0)
      worker.unref();
  }

  /** The worker has ended. Unless that was wanted, another takes its place. */
  #lose(fault: Error): void {
    this.#worker = null;
    // A damaged spool was found before it was ever used: the next worker sets it aside.
    if (!this.#isOpened && this.#ended === null && this.#isBroken) {
      this.#isBroken = false;
      this.#start();
      return;
    }
    this.#isRoomy = false;
    this.#group = null;
    const error = this.#ended === null ? fault : new AuditUnavailable('it is closed');
    for (const parts of this.#waiting.fail(error))
      for (let i = 0; i < parts.length; i += PARTS_OF_AN_EVENT) this.#missUnlessKept(parts[i]!, parts[i + 1]);
    this.#asked.refuseAll(error);
    this.#settleOpening(fault);
    this.#whenEnded();
    if (this.#ended !== null || !this.#isOpened) return;
    this.#log.error({ err: fault, delay_ms: this.#restartMs }, 'The worker of the audit trail has ended.');
    this.#restart = setTimeout(() => this.#start(), this.#restartMs).unref();
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS.longest);
  }

  /** Whoever gives an event its id keeps it and tells of it again. */
  #missUnlessKept(organizationId: string, eventId = ''): void {
    if (eventId === '') this.#miss(organizationId, 1);
  }

  #miss(organizationId: string, count: number): void {
    this.#missed.set(organizationId, (this.#missed.get(organizationId) ?? 0) + count);
  }

  #tellMissed(): void {
    if (this.#missed.size === 0) return;
    this.#post({ kind: 'missed', missed: [...this.#missed] });
    this.#missed.clear();
  }
}

/** A rejection that may go unheard. */
function refused(reason: string): Promise<void> {
  const refusal = Promise.reject(new AuditUnavailable(reason));
  refusal.catch(() => {});
  return refusal;
}
