import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { readChat, streamChat, writeChat } from './chat.js';
import { readMessages, streamMessages, writeMessages } from './messages.js';
import { answerTo, BadRequest, type Answer, type Asked, type Json } from './model.js';
import { readResponses, readWishes } from './responses.js';
import { streamResponses, writeResponses } from './responses-answer.js';

interface Format {
  read(body: unknown): Asked;
  whole(asked: Asked, answer: Answer, body: Json): Json;
  stream(asked: Asked, answer: Answer, body: Json): string;
  error(message: string): Json;
}

const openaiError = (message: string): Json => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
});

const formats: Readonly<Record<string, Format>> = {
  '/v1/messages': {
    read: readMessages,
    whole: writeMessages,
    stream: streamMessages,
    error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  },
  '/v1/chat/completions': { read: readChat, whole: writeChat, stream: streamChat, error: openaiError },
  '/v1/responses': {
    read: readResponses,
    whole: (asked, answer, body) => writeResponses(asked, answer, readWishes(body)),
    stream: (asked, answer, body) => streamResponses(asked, answer, readWishes(body)),
    error: openaiError,
  },
};

/** Not a divisor of anything: pieces end inside events, inside JSON, inside characters. */
const PIECE_BYTES = 331;

const writePieces = (res: ServerResponse, bytes: Buffer): void => {
  let at = 0;
  const more = (): void => {
    if (res.destroyed) return;
    res.write(bytes.subarray(at, at + PIECE_BYTES));
    at += PIECE_BYTES;
    if (at < bytes.length) setImmediate(more);
    else res.end();
  };
  more();
};

const answerJson = (res: ServerResponse, status: number, body: Json): void => {
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
};

const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const format = formats[(req.url ?? '').replace(/\?.*$/s, '')];
  const body = (await json(req)) as Json;
  if (!format) {
    answerJson(res, 404, openaiError(`no such path: ${req.url ?? ''}`));
    return;
  }
  try {
    if (format.read === readMessages && req.headers['anthropic-version'] === undefined)
      throw new BadRequest('anthropic-version: header is required');
    if (!/^application\/json\b/.test(req.headers['content-type'] ?? ''))
      throw new BadRequest('content-type: must be application/json');
    const asked = format.read(body);
    const given = answerTo(asked);
    if (asked.stream) {
      res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      writePieces(res, Buffer.from(format.stream(asked, given, body)));
    } else answerJson(res, 200, format.whole(asked, given, body));
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    answerJson(res, 400, format.error(error.message));
  }
};

export interface ScriptedUpstream {
  /** Without the `/v1` that every path begins with. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * One model behind the three vendors' formats, each as strict about requests and as exact in its answers as its vendor.
 * It shares no code with the gateway, so that a fault cannot cancel itself out.
 */
export const startScriptedUpstream = async (): Promise<ScriptedUpstream> => {
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => answerJson(res, 500, openaiError(String(error))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
