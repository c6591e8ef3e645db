import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

export const BENCH_KEY = 'sk-bench-key-that-nobody-else-has';

export interface Child {
  readonly process: ChildProcess;
  readonly port: number;
  cpuUs(): Promise<number>;
  stop(): void;
}

/** Starts a file beside this one in a process of its own; its output goes nowhere. */
export const startChild = async (file: string, ...args: readonly string[]): Promise<Child> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    process: child,
    port,
    async cpuUs() {
      child.send('cpu');
      const [answer] = (await once(child, 'message')) as [{ cpuUs: number }];
      return answer.cpuUs;
    },
    stop: () => child.kill(),
  };
};

export interface LoadOptions {
  readonly port: number;
  readonly requests: number;
  readonly concurrency: number;
  readonly stream: boolean;
}

/** Sends so many requests, so many at once, and reads every answer to its end. */
export const sendLoad = async ({ port, requests, concurrency, stream }: LoadOptions): Promise<void> => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency, pipelining: 1 });
  const body = JSON.stringify({
    model: 'messages-bench',
    max_tokens: 100,
    stream,
    messages: [{ role: 'user', content: 'Tell me something. '.repeat(20) }],
  });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${BENCH_KEY}` };
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await pool.request({ method: 'POST', path: '/v1/messages', headers, body });
      if (answer.statusCode !== 200)
        throw new Error(`status ${answer.statusCode}: ${await answer.body.text()}`);
      await answer.body.dump({ limit: Infinity });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
};
