import type { IncomingMessage } from 'node:http';

/** What an unread body may at most still cost us. */
const LINGER_BYTES = 65_536;
const LINGER_MS = 1_000;

/**
 * Whether a reply sent now leaves body bytes in the connection that could be taken for a next request. A short body
 * that nobody began to read is thrown away by node itself, and the connection lives on.
 */
export const leavesBodyBehind = (req: IncomingMessage): boolean => {
  if (req.complete) return false;
  const { headers } = req;
  return (
    req.readableFlowing !== null ||
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > LINGER_BYTES ||
    (headers.expect !== undefined && headers['content-length'] !== undefined)
  );
};

/**
 * Calls `close` when the client has sent all, has left, or had a second to read our answer. Closing at once, with bytes
 * unread, would reset the connection and may cost the client the answer.
 */
export const linger = (req: IncomingMessage, close: () => void): void => {
  let left = LINGER_BYTES;
  const discard = (piece: Buffer): void => {
    left -= piece.length;
    if (left <= 0) req.pause();
  };
  const over = (): void => {
    clearTimeout(timer);
    req.off('data', discard).off('end', over).off('close', over);
    close();
  };
  const timer = setTimeout(over, LINGER_MS);
  req.on('error', () => undefined);
  req.on('data', discard).on('end', over).on('close', over);
  req.resume();
};
