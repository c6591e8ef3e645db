import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { json, type Reply } from '../../../src/core/exchange.js';
import { silentLog } from '../../../src/core/log.js';
import { readBody } from '../../../src/io/http/body.js';
import { listen, type Listener, type ListenOptions } from '../../../src/io/http/listen.js';
import { sendReply, type SendOptions, type Sent } from '../../../src/io/http/reply.js';
import { checkHeaders } from '../../../src/io/http/strict-headers.js';
import { parseTarget } from '../../../src/io/http/target.js';

/** The part of tap's `t` that is needed to clean up. */
interface Ending {
  teardown(end: () => Promise<void>): void;
}

/** Waits for a condition, and fails loudly when it does not come. */
export const until = async (condition: () => boolean, what = 'the condition'): Promise<void> => {
  for (let turns = 0; !condition(); turns++) {
    if (turns > 2_000) throw new Error(`Waited in vain for ${what}.`);
    await wait(5);
  }
};

/** The timers the program holds, beside those of the test runner. */
const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

export const refusal = (status: number, code: string): Reply & { kind: 'json' } =>
  json({ error: { code } }, status);

export const options: ListenOptions = {
  host: '127.0.0.1',
  port: 0,
  tls: null,
  refuse: (fault) =>
    refusal({ malformed: 400, timeout: 408, headers_too_large: 431, upgrade: 426 }[fault], fault),
  log: silentLog,
};

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<unknown>;

/** A listener that ends with the test, leaving neither a connection nor a timer behind. */
export const openFront = async (
  t: Ending,
  handler: Handler,
  more: Partial<ListenOptions> = {},
): Promise<Listener> => {
  const timers = countTimers();
  const listener = await listen({ ...options, ...more }, async (req, res) => {
    await handler(req, res);
  });
  t.teardown(async () => {
    await listener.close();
    await until(() => listener.connections() === 0, 'the last connection to close');
    await until(() => countTimers() <= timers, 'the last timer to be cleared');
  });
  return listener;
};

/** A handler with the checks of the real walk: target, headers, body, then what the request said. */
export const echo =
  (seen: string[], boundBytes = 1_000_000): Handler =>
  async (req, res) => {
    seen.push(`${req.method ?? ''} ${req.url ?? ''}`);
    const target = parseTarget(req.url ?? '');
    if (!target.ok) return sendReply(refusal(400, 'invalid_path'), req, res);
    const fault = checkHeaders(req);
    if (fault) return sendReply(refusal(fault.kind === 'encoding' ? 415 : 400, fault.kind), req, res);
    const body = await readBody(req, res, boundBytes, new AbortController().signal);
    if (!body.ok) return sendReply(refusal(body.fault === 'too_large' ? 413 : 408, body.fault), req, res);
    return sendReply(json({ path: target.path, body: body.bytes.toString('latin1') }), req, res);
  };

/** A handler that sends one reply and remembers how that ended. */
export const reply =
  (make: () => Reply, ended: (sent: Sent) => void, sendOptions: SendOptions = {}): Handler =>
  async (req, res) =>
    ended(await sendReply(make(), req, res, sendOptions));

/** A client that is nothing but a socket. */
export interface RawClient {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  readonly closed: Promise<void>;
}

export const rawConnect = async (port: number): Promise<RawClient> => {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  return { socket, text: () => Buffer.concat(chunks).toString('latin1'), closed };
};

/** Sends the text and gives all that comes until the server closes. */
export const exchange = async (port: number, ...texts: string[]): Promise<string> => {
  const client = await rawConnect(port);
  for (const text of texts) client.socket.write(text, 'latin1');
  await client.closed;
  return client.text();
};

/** The status codes of the responses in a text. */
export const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map((found) => Number(found[1]));
