import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readyStreams, type ReadyStream } from './stream-formats.js';
import { tellMeasures } from './measures.js';

// An upstream of the three formats that costs next to nothing. The model asked for says how it streams:
// `...-500` = 500 events, one a turn of the loop; `...-30s` = one event a second for 30 s, each with the time it was sent
// beside its text.
const byPath = new Map(
  Object.values(readyStreams).map((stream) => [stream.path, { stream, delta: stream.delta('word ') }]),
);

const streamAtOnce = (
  res: ServerResponse,
  { stream, delta }: { stream: ReadyStream; delta: string },
  events: number,
) => {
  res.write(stream.head);
  let sent = 0;
  const more = (): void => {
    if (res.destroyed) return;
    if (sent++ < events) {
      res.write(delta);
      setImmediate(more);
    } else res.end(stream.tail(events));
  };
  more();
};

const streamSlowly = (
  res: ServerResponse,
  { stream, delta }: { stream: ReadyStream; delta: string },
  events: number,
): void => {
  res.write(stream.head);
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < events) {
      const stamp = `data: {"at":"@${process.hrtime.bigint() / 1_000n} ",`;
      res.write(delta.replace('data: {', stamp));
    } else {
      clearInterval(timer);
      res.end(stream.tail(events));
    }
  }, 1_000);
  res.once('close', () => clearInterval(timer));
};

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    const found = byPath.get(req.url ?? '');
    const [, count, pace] = /"model":"[^"]*-(\d+)(s?)"/.exec(body) ?? [];
    if (!found || count === undefined) {
      res.writeHead(404).end();
      return;
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    if (pace === 's') streamSlowly(res, found, Number(count));
    else streamAtOnce(res, found, Number(count));
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send!((server.address() as AddressInfo).port);
});
tellMeasures();
