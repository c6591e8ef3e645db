import { sendLoad, startChild, type Child } from './support/load.js';
import { median } from './support/measures.js';

const ROUNDS = 5;

const measure = async (child: Child, requests: number, stream: boolean): Promise<number> => {
  const before = await child.cpuUs();
  await sendLoad({ port: child.port, requests, concurrency: 16, stream });
  return ((await child.cpuUs()) - before) / requests;
};

/** CPU per request of the whole walk against a bare node:http + undici pass-through, rounds interleaved in one run. */
export const run = async (): Promise<void> => {
  const upstream = await startChild('./upstream-child.js');
  const url = `http://127.0.0.1:${upstream.port}`;
  const bare = await startChild('./bare-child.js', url);
  const sluice = await startChild('./gateway-child.js', url);
  try {
    for (const [name, stream, requests] of [
      ['whole answer', false, 3_000],
      ['stream of 100 events', true, 500],
    ] as const) {
      for (const child of [bare, sluice]) await measure(child, requests, stream);
      const rounds: { bare: number; sluice: number }[] = [];
      for (let round = 0; round < ROUNDS; round++)
        rounds.push({
          bare: await measure(bare, requests, stream),
          sluice: await measure(sluice, requests, stream),
        });
      const bareUs = median(rounds.map((round) => round.bare));
      const sluiceUs = median(rounds.map((round) => round.sluice));
      const ratio = median(rounds.map((round) => round.sluice / round.bare));
      console.log(
        `${name}: bare ${bareUs.toFixed(0)} us, sluice ${sluiceUs.toFixed(0)} us of CPU per request; ratio ${ratio.toFixed(2)}`,
      );
    }
  } finally {
    for (const child of [sluice, bare, upstream]) child.stop();
  }
};
