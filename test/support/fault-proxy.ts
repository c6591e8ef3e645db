import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to a connection once so many bytes of the answer went through. */
export interface Fault {
  readonly kind: 'none' | 'cut' | 'half_close' | 'reset' | 'stall';
  readonly afterBytes?: number;
  /** Every piece of the answer is held back so long. */
  readonly delayMs?: number;
}

export interface FaultProxy {
  readonly url: string;
  readonly port: number;
  /** Connections open on the client's side. */
  readonly open: number;
  /** For connections made from now on. */
  fault: Fault;
  close(): Promise<void>;
}

/** A TCP proxy on a loopback port that misbehaves as told. */
export const startFaultProxy = async (
  upstreamPort: number,
  fault: Fault = { kind: 'none' },
): Promise<FaultProxy> => {
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true });
    clients.add(client);
    client
      .on('error', () => {})
      .once('close', () => {
        clients.delete(client);
        upstream.destroy();
      });
    upstream.on('error', () => client.destroy()).once('end', () => client.end());
    client.pipe(upstream);
    void relay(upstream, client, proxy.fault).catch(() => client.destroy());
  });
  const proxy: FaultProxy = {
    url: '',
    port: 0,
    fault,
    get open() {
      return clients.size;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of clients) client.destroy();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, { port, url: `http://127.0.0.1:${port}` });
};

const relay = async (upstream: Socket, client: Socket, fault: Fault): Promise<void> => {
  let left = fault.kind === 'none' ? Infinity : (fault.afterBytes ?? 0);
  if (left === 0) {
    strike(client, fault.kind);
    return;
  }
  for await (const chunk of upstream as AsyncIterable<Buffer>) {
    if (fault.delayMs !== undefined) await sleep(fault.delayMs);
    client.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) {
      strike(client, fault.kind);
      return;
    }
  }
};

const strike = (client: Socket, kind: Fault['kind']): void => {
  if (kind === 'cut') client.destroySoon();
  else if (kind === 'half_close') client.end();
  else if (kind === 'reset') client.write('', () => client.resetAndDestroy());
};
