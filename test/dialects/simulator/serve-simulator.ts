import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Provider } from '../../../src/io/upstream/provider.js';

export interface SimulatorServer {
  readonly url: string;
  /** Requests seen so far. */
  readonly requests: number;
  /** Answers that are still on their way. */
  readonly open: number;
  stop(): Promise<void>;
}

/** A bare server that hands every request to the simulator and its bytes back. */
export const serveSimulator = async (simulator: Provider): Promise<SimulatorServer> => {
  let requests = 0;
  let open = 0;

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const client = new AbortController();
    res.once('close', () => client.abort());
    const body = await buffer(req);
    const {
      status,
      headers,
      body: source,
    } = await simulator.send({
      path: req.url ?? '',
      headers: {},
      body,
      signal: client.signal,
    });
    res.writeHead(status, headers);
    await pipeline(source, res);
  };

  const server = createServer((req, res) => {
    requests++;
    open++;
    answer(req, res)
      .catch(() => res.destroy())
      .finally(() => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    get open() {
      return open;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await simulator.close();
    },
  };
};
