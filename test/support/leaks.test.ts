import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { checkLeaks } from './leaks.js';

/** Runs a body as a test would and gives what the harness says at the end. */
async function verdictOn(body: () => Promise<void> | void): Promise<string | null> {
  const undo: (() => unknown)[] = [];
  checkLeaks({ teardown: (step) => undo.unshift(step) }, { waitMs: 200 });
  await body();
  try {
    for (const step of undo) await step();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('a test that closes what it opened passes', async (t) => {
  const said = await verdictOn(async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1').resume();
    await once(socket, 'close');
    server.close();
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    const worker = new Worker('', { eval: true });
    await once(worker, 'exit');
    setTimeout(() => {}, 50);
  });
  t.equal(said, null);
});

t.test('a timer left running is found', async (t) => {
  let timer: NodeJS.Timeout | undefined;
  t.match(
    await verdictOn(() => {
      timer = setInterval(() => {}, 1_000);
    }),
    /^left open: timer$/,
  );
  clearInterval(timer);
});

t.test('a listening server and an open connection are found', async (t) => {
  let accepted: Socket | undefined;
  const server = createServer((peer) => (accepted = peer));
  let socket: Socket | undefined;
  const said = await verdictOn(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
  });
  t.equal(said, 'left open: listening server, socket, socket');
  accepted?.destroy();
  socket?.destroy();
  server.close();
});

t.test('a child process left behind is found', async (t) => {
  let left: ReturnType<typeof spawn> | undefined;
  const said = await verdictOn(() => {
    left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  });
  t.equal(said, 'left open: child process');
  left?.kill('SIGKILL');
  await once(left!, 'exit');
});

t.test('a worker left behind is found', async (t) => {
  let worker: Worker | undefined;
  const said = await verdictOn(async () => {
    worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
    await once(worker, 'online');
  });
  t.match(said, /^left open: (pipe, )*worker$/);
  await worker?.terminate();
});
