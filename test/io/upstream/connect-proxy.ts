import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A TCP server on a loopback port for one test. */
export const listen = async (t: Test, serve: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
};

/** A forward proxy that knows CONNECT only, and leads everything to one port. */
export const startConnectProxy = async (
  t: Test,
  port: number,
  status = 200,
): Promise<{ readonly url: string; readonly port: number; readonly asked: readonly string[] }> => {
  const asked: string[] = [];
  const proxyPort = await listen(t, (client) => {
    client.once('data', (head: Buffer) => {
      asked.push(head.toString());
      if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      const upstream = connect({ port, host: '127.0.0.1' });
      upstream.on('error', () => client.destroy()).once('close', () => client.destroy());
      client.once('close', () => upstream.destroy());
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
  });
  return { url: `http://127.0.0.1:${proxyPort}`, port: proxyPort, asked };
};
