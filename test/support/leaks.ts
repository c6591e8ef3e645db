import { createHook } from 'node:async_hooks';

/** The part of a tap test that is needed here. */
interface Subject {
  teardown(undo: () => unknown): unknown;
}

const WAIT_MS = 5_000;
const LOOK_EVERY_MS = 20;

const names: Readonly<Record<string, string>> = {
  TCPSERVERWRAP: 'listening server',
  PIPESERVERWRAP: 'listening server',
  TCPWRAP: 'socket',
  UDPWRAP: 'socket',
  PIPEWRAP: 'pipe',
  PROCESSWRAP: 'child process',
  WORKER: 'worker',
  FSEVENTWRAP: 'file watcher',
  STATWATCHER: 'file watcher',
  Timeout: 'timer',
};

/**
 * Fails the test if, once it and its later teardowns are done, something it opened stays open: sockets, servers,
 * child processes, workers, file watchers, timers that hold the process. Call it first in a test (teardowns run last
 * in, first out). It waits a while for things that are still closing, such as the idle sockets of a client's pool.
 */
export function checkLeaks(t: Subject, { waitMs = WAIT_MS }: { readonly waitMs?: number } = {}): void {
  const open = new Map<number, { readonly name: string; readonly holds: () => boolean }>();
  let pausing = false;
  const hook = createHook({
    init(id, type, _trigger, resource) {
      const name = names[type];
      if (name !== undefined && !pausing) open.set(id, { name, holds: holderOf(resource) });
    },
    destroy(id) {
      open.delete(id);
    },
  }).enable();

  const left = (): string[] => [...open.values()].filter(({ holds }) => holds()).map(({ name }) => name);
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      pausing = true;
      setTimeout(resolve, LOOK_EVERY_MS);
      pausing = false;
    });

  t.teardown(async () => {
    for (let waitedMs = 0; left().length > 0 && waitedMs < waitMs; waitedMs += LOOK_EVERY_MS) await pause();
    hook.disable();
    if (left().length > 0) throw new Error(`left open: ${left().sort().join(', ')}`);
  });
}

/** An unreferenced timer, as libraries keep them, is no leak; an unreferenced socket is. */
function holderOf(resource: object): () => boolean {
  if (resource.constructor.name !== 'Timeout') return () => true;
  const timer = new WeakRef(resource as NodeJS.Timeout);
  return () => timer.deref()?.hasRef() ?? false;
}
