import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock, type Clock } from '../../core/clock.js';

export type BodyFault = 'too_large' | 'timeout' | 'aborted';

export type BodyRead =
  { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly fault: BodyFault };

/** How slow a sender may be. */
export interface Pace {
  /** Longest silence between two pieces. */
  readonly idleMs: number;
  /** The average below which a body is given up, once `graceMs` have passed. */
  readonly bytesPerSecond: number;
  readonly graceMs: number;
  readonly checkEveryMs: number;
  readonly clock: Clock;
}

export const defaultPace: Pace = {
  idleMs: 30_000,
  bytesPerSecond: 1_024,
  graceMs: 10_000,
  checkEveryMs: 1_000,
  clock: systemClock,
};

const nothing = Buffer.alloc(0);

/** Whether a body was announced at all. */
const announced = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Reads at most `boundBytes`. A fault of the client is a value, so that the attempt still counts. A client that waits
 * for `100 Continue` gets it here and nowhere else: a body nobody reads is never asked for.
 */
export const readBody = (
  req: IncomingMessage,
  res: ServerResponse,
  boundBytes: number,
  signal: AbortSignal,
  pace: Pace = defaultPace,
): Promise<BodyRead> => {
  if (!announced(req)) return Promise.resolve({ ok: true, bytes: nothing });
  if (Number(req.headers['content-length'] ?? 0) > boundBytes)
    return Promise.resolve({ ok: false, fault: 'too_large' });
  if (signal.aborted || req.destroyed) return Promise.resolve({ ok: false, fault: 'aborted' });

  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const startedMs = pace.clock.ticksMs();
    let heardMs = startedMs;

    const settle = (read: BodyRead): void => {
      clearInterval(watch);
      req.off('data', onData).off('end', onEnd).off('close', onGone);
      signal.removeEventListener('abort', onGone);
      if (!read.ok) req.pause();
      resolve(read);
    };
    const onData = (piece: Buffer): void => {
      length += piece.length;
      if (length > boundBytes) settle({ ok: false, fault: 'too_large' });
      else {
        pieces.push(piece);
        heardMs = pace.clock.ticksMs();
      }
    };
    const onEnd = (): void =>
      settle({ ok: true, bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, length) });
    const onGone = (): void => settle({ ok: false, fault: 'aborted' });
    const checkPace = (): void => {
      const nowMs = pace.clock.ticksMs();
      const elapsedMs = nowMs - startedMs;
      const tooSlow = elapsedMs > pace.graceMs && length < (elapsedMs / 1_000) * pace.bytesPerSecond;
      if (tooSlow || nowMs - heardMs > pace.idleMs) settle({ ok: false, fault: 'timeout' });
    };

    const watch = setInterval(checkPace, pace.checkEveryMs);
    signal.addEventListener('abort', onGone, { once: true });
    // The error of a broken upload is told by 'close'; the listener stays, for one may come late.
    req.on('error', () => undefined);
    req.on('data', onData).on('end', onEnd).on('close', onGone);
    if (req.headers.expect !== undefined) res.writeContinue();
  });
};
