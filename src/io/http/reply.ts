import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  BytesReply,
  Delivery,
  JsonReply,
  Reply,
  StreamReply,
  TunnelReply,
} from '../../core/exchange.js';
import { linger, leavesBodyBehind } from './linger.js';
import { Outlet } from './outlet.js';
import { pump } from './pump.js';

export interface Sent {
  readonly delivery: Delivery;
  /** Body bytes handed to the client's socket; of a tunnel, all bytes. */
  readonly bytes: number;
  /** Why an upstream's answer was cut. */
  readonly cause?: unknown;
}

/** Header names are lower case everywhere: two spellings of one name would go out twice. */
type Headers = Readonly<Record<string, string>>;

export interface SendOptions {
  /** Joined to every reply; the reply's own headers win. */
  readonly headers?: Headers;
  /** Aborted when the gateway stops: streams then end with their format's own error. */
  readonly signal?: AbortSignal;
  /** How long a client may read nothing before it counts as gone. */
  readonly writeStallMs?: number;
}

const STALL_MS = 120_000;

const dataHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
const streamHeaders = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  'content-type': 'text/event-stream; charset=utf-8',
} as const;

const bodyless = (status: number): boolean => status === 204 || status === 304;

/** A whole reply as it goes on the wire. */
export const encodeReply = (
  reply: JsonReply | BytesReply,
  headers: Headers = {},
): { readonly headers: Record<string, string>; readonly body: Buffer } => {
  const content = reply.kind === 'json' ? JSON.stringify(reply.body ?? null) : reply.body;
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const all: Record<string, string> = {
    ...dataHeaders,
    'content-type': reply.kind === 'json' ? 'application/json' : reply.contentType,
    ...headers,
    ...reply.headers,
  };
  if (!bodyless(reply.status)) all['content-length'] = String(body.length);
  return { headers: all, body };
};

/** Hands what `begin` sends to the client and waits for its end. */
const deliver = (res: ServerResponse, stallMs: number, begin: (outlet: Outlet) => void): Promise<Sent> =>
  new Promise((resolve) => {
    const outlet = new Outlet(res, stallMs, () => undefined);
    const settle = (delivery: Delivery): void => {
      release();
      resolve({ delivery, bytes: outlet.bytes });
    };
    const release = (): void => {
      outlet.release();
      res.off('finish', onFinish).off('close', onClose);
    };
    const onFinish = (): void => settle('complete');
    const onClose = (): void => settle('client_left');
    res.on('finish', onFinish).on('close', onClose);
    if (res.destroyed) {
      onClose();
      return;
    }
    try {
      begin(outlet);
    } catch (error) {
      release();
      throw error;
    }
  });

const sendWhole = (
  reply: JsonReply | BytesReply,
  req: IncomingMessage,
  res: ServerResponse,
  options: SendOptions,
): Promise<Sent> => {
  const { headers, body } = encodeReply(reply, options.headers);
  const leavesBody = leavesBodyBehind(req);
  return deliver(res, options.writeStallMs ?? STALL_MS, (outlet) => {
    if (leavesBody) res.shouldKeepAlive = false;
    res.writeHead(reply.status, headers);
    const hasBody = req.method !== 'HEAD' && !bodyless(reply.status) && body.length > 0;
    if (!leavesBody) {
      if (hasBody) outlet.send(body);
      outlet.end();
      return;
    }
    res.flushHeaders();
    if (hasBody) outlet.send(body);
    linger(req, () => outlet.end());
  });
};

const sendStream = (
  reply: StreamReply,
  req: IncomingMessage,
  res: ServerResponse,
  options: SendOptions,
): Promise<Sent> => {
  const stallMs = options.writeStallMs ?? STALL_MS;
  const writeHead = (): void => {
    if (leavesBodyBehind(req)) res.shouldKeepAlive = false;
    res.writeHead(reply.status, { ...streamHeaders, ...options.headers, ...reply.headers });
  };
  if (req.method !== 'HEAD') return pump(reply, res, { signal: options.signal, stallMs, writeHead });
  reply.source.on('error', () => undefined).destroy();
  return deliver(res, stallMs, (outlet) => {
    writeHead();
    outlet.end();
  });
};

const openTunnel = async (
  reply: TunnelReply,
  req: IncomingMessage,
  res: ServerResponse,
  options: SendOptions,
): Promise<Sent> => {
  const { socket } = req;
  const before = socket.bytesWritten;
  let cause: unknown;
  try {
    if (req.headers.expect !== undefined) res.writeContinue();
    await reply.open(req, res, { ...dataHeaders, ...options.headers });
  } catch (error) {
    if (!res.headersSent && !res.destroyed) throw error;
    cause = error;
  }
  const bytes = socket.bytesWritten - before;
  if (res.writableFinished) return { delivery: 'complete', bytes };
  if (cause === undefined) return { delivery: 'client_left', bytes };
  res.destroy();
  return { delivery: 'upstream_failed', bytes, cause };
};

/**
 * Sends a reply and says how that ended. Throws only while nothing has left yet (the reply cannot be encoded, the
 * stream failed before its first bytes), so that the caller may still answer with an error.
 */
export const sendReply = async (
  reply: Reply,
  req: IncomingMessage,
  res: ServerResponse,
  options: SendOptions = {},
): Promise<Sent> => {
  switch (reply.kind) {
    case 'json':
    case 'bytes':
      return sendWhole(reply, req, res, options);
    case 'stream':
      return sendStream(reply, req, res, options);
    case 'tunnel':
      return openTunnel(reply, req, res, options);
  }
};
