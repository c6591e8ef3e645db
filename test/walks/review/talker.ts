import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { readChat, streamChat, writeChat } from '../../support/upstreams/chat.js';
import { readMessages, streamMessages, writeMessages } from '../../support/upstreams/messages.js';
import { BadRequest, type Answer, type Asked, type Json } from '../../support/upstreams/model.js';
import { readResponses, readWishes } from '../../support/upstreams/responses.js';
import { streamResponses, writeResponses } from '../../support/upstreams/responses-answer.js';
import { recut, type Cut } from './recut.js';

/** What the upstream was sent. */
export interface Seen {
  readonly format: DialectName;
  readonly body: string;
  readonly asked: Asked;
  readonly headers: IncomingMessage['headers'];
}

/** What it says to a request: an answer in its own words, the very bytes of one, or what depends on the request. */
export type Line = Partial<Answer> | { readonly raw: string } | ((asked: Asked) => Partial<Answer>);

export interface Talker {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** What it says from now on: one line after the other, the last one for ever. */
  says(...lines: readonly Line[]): void;
  /** How it cuts the text of its streams from now on. */
  cuts(cut: Cut): void;
  /** Forgets what it was sent. */
  forget(): void;
  close(): Promise<void>;
}

const formats: Readonly<Record<string, DialectName>> = {
  '/v1/messages': 'messages',
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
};

const readers = { messages: readMessages, chat: readChat, responses: readResponses };

const whole = (format: DialectName, asked: Asked, answer: Answer, body: Json): Json => {
  if (format === 'responses') return writeResponses(asked, answer, readWishes(body));
  return (format === 'chat' ? writeChat : writeMessages)(asked, answer);
};

const stream = (format: DialectName, asked: Asked, answer: Answer, body: Json): string => {
  if (format === 'responses') return streamResponses(asked, answer, readWishes(body));
  return (format === 'chat' ? streamChat : streamMessages)(asked, answer);
};

export const INPUT_TOKENS = 100;
export const OUTPUT_TOKENS = 50;

const complete = (line: Partial<Answer>): Answer => {
  const { calls = [], refusal = '' } = line;
  const reason = refusal !== '' ? 'refusal' : calls.length > 0 ? 'tools' : 'stop';
  return {
    thinking: '',
    text: '',
    refusal,
    calls,
    reason,
    usage: { input: INPUT_TOKENS, cached: 0, output: OUTPUT_TOKENS, reasoning: 0 },
    ...line,
  };
};

/** An upstream of every format, as strict as the vendors, that says what it is told to, cut as it is told to. */
export const startTalker = async (): Promise<Talker> => {
  const seen: Seen[] = [];
  let lines: readonly Line[] = [{ text: 'All is well.' }];
  let cut: Cut = (text) => [text];

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const format = formats[(req.url ?? '').replace(/\?.*$/s, '')]!;
    const body = await readText(req);
    if (req.headers['content-type'] !== 'application/json')
      throw new BadRequest('content-type: must be JSON');
    const json = JSON.parse(body) as Json;
    const asked = readers[format](json);
    seen.push({ format, body, asked, headers: req.headers });
    const given = lines[0]!;
    const line = typeof given === 'function' ? given(asked) : given;
    if (lines.length > 1) lines = lines.slice(1);
    const type = asked.stream ? 'text/event-stream' : 'application/json';
    res.writeHead(200, { 'content-type': type });
    if ('raw' in line) res.end(line.raw);
    else if (asked.stream) res.end(recut(stream(format, asked, complete(line), json), cut));
    else res.end(JSON.stringify(whole(format, asked, complete(line), json)));
  };

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      const status = error instanceof BadRequest ? 400 : 500;
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ error: { message: String(error), type: 'invalid_request_error' } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    says: (...given) => (lines = given),
    cuts: (given) => (cut = given),
    forget: () => void seen.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
