import type { Log } from '../core/log.js';

/** A served thing that signals end. */
export interface Living {
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface LifeOptions {
  readonly log: Log;
  /** Writes out the last log lines. */
  readonly flush: () => void;
  /** What SIGHUP does; null = it stops, as when a terminal is closed. */
  readonly onHangup: (() => void) | null;
}

const LAST_BREATH_MS = 5_000;
const FORCED = 1;

/**
 * Lives until a signal: SIGTERM or SIGINT drains and gives 0, a second one ends at once, SIGHUP reloads. An error
 * nobody caught means the process can no longer be trusted: it drains for a moment and gives 1.
 */
export function liveUntilStopped(living: Living, { log, flush, onHangup }: LifeOptions): Promise<number> {
  const { promise, resolve } = withResolver<number>();
  let stopping = false;

  const stop = (code: number, boundMs: number | null): void => {
    stopping = true;
    const ended = end(living, log).then((clean) => (clean ? code : FORCED));
    const bounded = boundMs === null ? ended : Promise.race([ended, after(boundMs, FORCED)]);
    void bounded.then(resolve);
  };
  const leaveAtOnce = (): never => {
    flush();
    process.exit(FORCED);
  };

  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      log.warn({ signal }, 'a second signal: leaving at once');
      leaveAtOnce();
    }
    log.info({ signal }, 'draining: no new connections, open requests may finish');
    stop(0, null);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('SIGHUP', (signal) => {
    if (onHangup === null) onSignal(signal);
    else if (!stopping) onHangup();
  });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.error({ err: error, what: event }, 'an error nobody caught; the process ends');
      if (!stopping) stop(FORCED, LAST_BREATH_MS);
    });
  return promise;
}

/** Whether everything was put away in order. */
async function end(living: Living, log: Log): Promise<boolean> {
  try {
    await living.drain();
    return true;
  } catch (error) {
    log.error({ err: error }, 'draining failed');
    return false;
  } finally {
    await living.close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
  }
}

const after = <T>(delayMs: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(value), delayMs).unref());

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
