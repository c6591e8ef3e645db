import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { tellMeasures } from './measures.js';

// The least a gateway in Node can be: read the body, send it on, pipe the answer back.
const pool = new Pool(process.argv[2]!, { connections: 256, pipelining: 1 });
const server = createServer((req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (chunk: Buffer) => pieces.push(chunk));
  req.on('end', () => {
    pool
      .request({
        method: 'POST',
        path: '/v1/messages',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(pieces),
      })
      .then(({ statusCode, headers, body }) => {
        res.writeHead(statusCode, { 'content-type': String(headers['content-type']) });
        body.pipe(res);
      })
      .catch(() => res.destroy());
  });
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
tellMeasures();
