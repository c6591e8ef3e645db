import { request, type IncomingMessage } from 'node:http';
import type { Test } from 'tap';
import type { Script } from '../support/fake-provider.js';
import { APP_KEY, frontProvider, until } from '../support/gateway.js';

const frame = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const start =
  frame('message_start', {
    type: 'message_start',
    message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } },
  }) +
  frame('content_block_start', {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  });
const delta = (text: string): string =>
  frame('content_block_delta', {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  });
const finish =
  frame('content_block_stop', { type: 'content_block_stop', index: 0 }) +
  frame('message_delta', {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9 },
  }) +
  frame('message_stop', { type: 'message_stop' });

const ask = { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };
const streamHead = { head: 200, headers: { 'content-type': 'text/event-stream' } } as const;

/** A stream of so many events with so much silence between them arrives whole, heartbeats in the gaps. */
export const surviveSilence = async (
  t: Test,
  events: number,
  silenceMs: number,
  heartbeatMs: number,
): Promise<void> => {
  const script: Script = [
    streamHead,
    { write: start },
    ...Array.from({ length: events }, (_, index) => [
      { waitMs: silenceMs },
      { write: delta(`word${index} `) },
    ]).flat(),
    { write: finish },
    'end',
  ];
  const { post } = await frontProvider(t, 'anthropic', script, {
    server: { port: 0, heartbeat: `${heartbeatMs}ms` },
  });
  const text = await (await post('/v1/messages', ask)).text();
  for (let index = 0; index < events; index++) t.ok(text.includes(`"word${index} "`), `event ${index}`);
  t.match(text, /\n\n: /, 'a comment keeps the line alive in between');
  t.ok(text.endsWith(frame('message_stop', { type: 'message_stop' })));
};

/** A client that stops reading a huge answer stops the upstream too: what piles up in between stays small. */
export const holdSlowReader = async (t: Test, totalBytes: number): Promise<void> => {
  const chunk = delta('x'.repeat(64 * 1_024));
  const script: Script = [
    streamHead,
    { write: start },
    ...Array.from({ length: Math.ceil(totalBytes / chunk.length) }, () => ({ write: chunk })),
    { write: finish },
    'end',
  ];
  const { gateway, upstream } = await frontProvider(t, 'anthropic', script);
  const body = JSON.stringify(ask);
  const sent = request({
    port: gateway.address.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/messages',
    headers: {
      authorization: `Bearer ${APP_KEY}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  t.teardown(() => sent.destroy());
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end(body);
  });
  let received = 0;
  answer.pause();
  global.gc?.();
  const before = process.memoryUsage();
  let last = -1;
  await until(
    async () => {
      const written = upstream.writtenBytes;
      const still = written > 0 && written === last;
      last = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return still;
    },
    'the upstream has been stopped',
    30_000,
  );
  t.ok(last < 32 * 1_048_576, `the upstream stopped at ${last} bytes of ${totalBytes}`);
  const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers;
  t.ok(grown < 64 * 1_048_576, `memory grew by ${grown} bytes`);
  answer.on('data', (piece: Buffer) => (received += piece.length));
  answer.resume();
  await new Promise((resolve) => answer.on('end', resolve));
  t.ok(received > totalBytes, 'and once it reads again, everything arrives');
};
