import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { tellMeasures } from './measures.js';

// The least a gateway in Node can be: read the body, send it on, write the bytes of the answer as they come.
const pool = new Pool(process.argv[2]!, { connections: 8_192, pipelining: 1 });
const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (chunk: Buffer) => pieces.push(chunk));
  req.on('end', () => {
    pool
      .request({
        method: 'POST',
        path: req.url!,
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(pieces),
      })
      .then(({ statusCode, headers, body }) => {
        res.writeHead(statusCode, { 'content-type': String(headers['content-type']) });
        res.once('close', () => body.destroy());
        body
          .on('data', (chunk: Buffer) => {
            if (res.write(chunk)) return;
            body.pause();
            res.once('drain', () => body.resume());
          })
          .on('end', () => res.end())
          .on('error', () => res.destroy());
      })
      .catch(() => res.destroy());
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send!((server.address() as AddressInfo).port);
});
tellMeasures();
