import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// An upstream of the messages format that costs next to nothing: one ready answer, or one ready stream.
const EVENTS = 100;
const frame = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 12, output_tokens: EVENTS };
const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', stop_sequence: null };
const whole = JSON.stringify({
  ...message,
  content: [{ type: 'text', text: 'word '.repeat(EVENTS) }],
  stop_reason: 'end_turn',
  usage,
});
const head =
  frame('message_start', {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage },
  }) +
  frame('content_block_start', {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  });
const delta = frame('content_block_delta', {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'word ' },
});
const tail =
  frame('content_block_stop', { type: 'content_block_stop', index: 0 }) +
  frame('message_delta', {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: EVENTS },
  }) +
  frame('message_stop', { type: 'message_stop' });

const server = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    if (!body.includes('"stream":true')) {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
      res.end(whole);
      return;
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(head);
    let sent = 0;
    const more = (): void => {
      if (sent++ < EVENTS) {
        res.write(delta);
        setImmediate(more);
      } else res.end(tail);
    };
    more();
  });
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
