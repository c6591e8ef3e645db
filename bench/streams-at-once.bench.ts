import { request, type IncomingMessage } from 'node:http';
import { BENCH_KEY } from './support/load.js';
import { startStreamChild, type StreamChild } from './support/stream-child.js';
import { readyStreams, requestFor } from './support/stream-formats.js';

const STREAMS = 2_000;
const OPENED_OVER_MS = 5_000;
const WARM_STREAMS = 100;
const PIPE_S = 10;
const GATEWAY_S = 30;
const MOST_LAG_MS = 100;
const MOST_KB = 120;

interface Tally {
  readonly lagsMs: number[];
  complete: number;
  /** How many streams failed, by what went wrong. */
  readonly errors: Map<string, number>;
}

/** Reads one stream to its end, and notes how long each event took since the upstream wrote it. */
const readStream = (port: number, seconds: number, tally: Tally): Promise<void> =>
  new Promise((resolve) => {
    const { path, terminal } = readyStreams.messages;
    const fail = ({ message }: Error): void => {
      tally.errors.set(message, (tally.errors.get(message) ?? 0) + 1);
      resolve();
    };
    const read = (answer: IncomingMessage): void => {
      let ended = false;
      answer.setEncoding('latin1');
      answer.on('data', (text: string) => {
        const nowUs = Number(process.hrtime.bigint() / 1_000n);
        for (const [, sentUs] of text.matchAll(/@(\d+) /g))
          tally.lagsMs.push((nowUs - Number(sentUs)) / 1_000);
        ended ||= text.includes(terminal);
      });
      answer.on('error', fail);
      answer.on('end', () => {
        if (ended) {
          tally.complete++;
          resolve();
        } else fail(new Error(`status ${String(answer.statusCode)}, cut`));
      });
    };
    request({
      port,
      path,
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${BENCH_KEY}` },
    })
      .on('error', fail)
      .on('response', read)
      .end(requestFor('messages', `messages-${seconds}s`));
  });

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const openStreams = (port: number, streams: number, seconds: number, overMs: number) => {
  const tally: Tally = { lagsMs: [], complete: 0, errors: new Map() };
  const all = Array.from({ length: streams }, async (_, index) => {
    await sleep((index / streams) * overMs);
    await readStream(port, seconds, tally);
  });
  return { tally, ended: Promise.all(all) };
};

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;

const tell = (name: string, { lagsMs, complete, errors }: Tally): number => {
  lagsMs.sort((a, b) => a - b);
  const [p50, p99] = [percentile(lagsMs, 0.5), percentile(lagsMs, 0.99)];
  const failed = [...errors].map(([message, times]) => `${times} x ${message}`).join(', ');
  console.log(
    `${name}: ${complete} streams complete, ${failed || 'no errors'}; ${lagsMs.length} events, lag p50 ${p50.toFixed(2)} ms, ` +
      `p99 ${p99.toFixed(1)} ms, most ${lagsMs.at(-1)!.toFixed(1)} ms`,
  );
  return p99;
};

const runGateway = async (gateway: StreamChild): Promise<void> => {
  await openStreams(gateway.port, WARM_STREAMS, 1, 0).ended;
  const idle = await gateway.measure('gc');
  const { tally, ended } = openStreams(gateway.port, STREAMS, GATEWAY_S, OPENED_OVER_MS);
  await sleep(OPENED_OVER_MS + (GATEWAY_S * 1_000 - OPENED_OVER_MS) / 2);
  const before = await gateway.measure();
  await sleep(5_000);
  const busy = await gateway.measure();
  // A forced collection stops everything, which no event is to be blamed for.
  const lagsMs = tally.lagsMs.slice();
  const collected = await gateway.measure('gc');
  await ended;
  const p99 = tell('sluice', { ...tally, lagsMs });
  const kilobytes = (rssBytes: number): number => (rssBytes - idle.rssBytes) / STREAMS / 1_024;
  console.log(
    `memory per stream: ${kilobytes(busy.rssBytes).toFixed(0)} KB (at most ${MOST_KB}), ` +
      `${kilobytes(collected.rssBytes).toFixed(0)} KB after a collection; idle ${(idle.rssBytes / 1_048_576).toFixed(0)} MB`,
  );
  console.log(`CPU: ${((busy.cpuUs - before.cpuUs) / 5 / 10_000).toFixed(0)} % of a core`);
  if (tally.errors.size > 0 || p99 > MOST_LAG_MS || kilobytes(busy.rssBytes) > MOST_KB) console.log('MISSED');
};

/** 2,000 streams of one event a second through one process, and through a bare pipe of the same run for comparison. */
export const run = async (): Promise<void> => {
  const upstream = await startStreamChild('./stream-upstream-child.js');
  const url = `http://127.0.0.1:${upstream.port}`;
  const pipe = await startStreamChild('./stream-pipe-child.js', url);
  const bare = openStreams(pipe.port, STREAMS, PIPE_S, OPENED_OVER_MS);
  await bare.ended;
  tell('bare pipe', bare.tally);
  pipe.stop();
  // Everything is read, nothing is held back: what waits for a verdict waits for later text, which is another question.
  const gateway = await startStreamChild('./gateway-child.js', url, 'async');
  try {
    await runGateway(gateway);
  } finally {
    gateway.stop();
    upstream.stop();
  }
};
