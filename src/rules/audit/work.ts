import type { MessagePort } from 'node:worker_threads';
import type { CreateSender } from '../../core/sink.js';
import {
  PARTS_OF_AN_EVENT,
  type FromWorker,
  type Group,
  type ToWorker,
  type WorkerOptions,
} from './messages.js';
import { isDamage } from './spool-file.js';
import type { Entry } from './spool.js';
import { Trail } from './trail.js';

/** Events in one transaction at most, so that none waits long for the others. */
const MOST_AT_ONCE = 4_096;

/** Serves the audit trail of one folder to the thread at the other end of the port. */
export function serveTrail(
  port: MessagePort,
  options: WorkerOptions,
  loadSenders: () => Promise<CreateSender>,
): void {
  const tell = (message: FromWorker): void => port.postMessage(message);
  const queue: Group[] = [];
  let isScheduled = false;
  let createSender: CreateSender | null = null;
  /** What came while the senders were being loaded: most gateways have none, and start faster without them. */
  let parked: ToWorker[] | null = null;
  let trail: Trail;
  try {
    trail = openTrail();
  } catch (error) {
    tell(isDamage(error) ? { kind: 'broken', missed: [] } : { kind: 'refused', reason: textOf(error) });
    port.close();
    return;
  }
  port.on('message', (message: ToWorker) => receive(message));
  tell({ kind: 'ready', instanceId: trail.instanceId, open: trail.open });

  function openTrail(): Trail {
    return new Trail({
      ...options,
      createSender: (spec) => createSender!(spec),
      onSink: (status) => tell({ kind: 'sink', status }),
      onTrail: (status) => tell({ kind: 'trail', status }),
      onRoom: (open) => tell({ kind: 'room', open }),
      warn: (message, fields) => tell({ kind: 'warning', message, fields }),
      onBroken: () => setImmediate(giveUp),
    });
  }

  /** Everything behind a message that waits waits too: a new sink starts with exactly what comes after it. */
  function receive(message: ToWorker): void {
    if (parked) parked.push(message);
    else if (createSender === null && needsSenders(message)) {
      parked = [message];
      loadSenders().then((made) => {
        createSender = made;
        const waiting = parked ?? [];
        parked = null;
        for (const each of waiting) receive(each);
      }, giveUp);
    } else act(message);
  }

  function act(message: ToWorker): void {
    switch (message.kind) {
      case 'record':
        queue.push(message);
        schedule();
        return;
      case 'missed':
        for (const [organizationId, count] of message.missed) trail.miss(organizationId, count);
        return;
      case 'sinks':
        drainAll(); // a new sink starts with what comes after this
        void trail.setSinks(message.specs);
        return;
      case 'ask':
        drainAll();
        void answer(message);
        return;
      case 'close':
        drainAll();
        void trail.close(message.drainMs).then(end, end);
    }
  }

  function schedule(): void {
    if (!isScheduled) setImmediate(drain);
    isScheduled = true;
  }

  /** All that waits shares one transaction, hence one fsync. */
  function drain(): void {
    const entries: Entry[] = [];
    let last = 0;
    isScheduled = false;
    if (queue.length === 0) return;
    while (queue.length > 0 && entries.length < MOST_AT_ONCE) {
      const group = queue.shift()!;
      last = group.group;
      readGroup(group, entries);
    }
    tell({ kind: 'recorded', group: last, ok: trail.record(entries) });
    if (queue.length > 0) schedule();
  }

  function drainAll(): void {
    while (queue.length > 0) drain();
  }

  async function answer({ id, question, args }: Extract<ToWorker, { kind: 'ask' }>): Promise<void> {
    try {
      const calls = trail as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
      tell({ kind: 'answer', id, result: await calls[question]!(...args) });
    } catch (error) {
      tell({ kind: 'fault', id, reason: textOf(error) });
    }
  }

  /** The thread that started this one starts another. */
  function giveUp(): void {
    drainAll();
    tell({ kind: 'broken', missed: trail.untold() });
    void trail.close(0).then(end, end);
  }

  function end(): void {
    port.close();
  }
}

const needsSenders = (message: ToWorker): boolean =>
  (message.kind === 'sinks' && message.specs.length > 0) ||
  (message.kind === 'ask' && message.question === 'trySink');

function readGroup({ parts, atMs }: Group, entries: Entry[]): void {
  const now = new Date(atMs).toISOString();
  for (let i = 0; i < parts.length; i += PARTS_OF_AN_EVENT) {
    const [organizationId, eventId, createdAt, body] = parts.slice(i, i + PARTS_OF_AN_EVENT) as [
      string,
      string,
      string,
      string,
    ];
    entries.push({
      organizationId,
      body,
      createdAt: createdAt === '' ? now : createdAt,
      ...(eventId !== '' && { eventId }),
    });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
