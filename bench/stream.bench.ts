import { once } from 'node:events';
import { Pool } from 'undici';
import { dialectNames, type DialectName } from '../src/dialects/dialect.js';
import { BENCH_KEY } from './support/load.js';
import { startStreamChild, type StreamChild } from './support/stream-child.js';
import { readyStreams, requestFor } from './support/stream-formats.js';
import { median } from './support/measures.js';

const ROUNDS = 5;
const STREAMS = 16;
const CONCURRENCY = 8;
const EVENTS = 1_000;
const FIRST_BYTES = 300;
const MOST_SAME = 1.5;
const MOST_TRANSLATED = 4;

interface Pair {
  readonly client: DialectName;
  readonly upstream: DialectName;
}

/** A stream read to its end: complete, or the figures are worth nothing. */
const readStream = async (pool: Pool, { client, upstream }: Pair): Promise<void> => {
  const { path, terminal } = readyStreams[client];
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${BENCH_KEY}` },
    body: requestFor(client, `${upstream}-${EVENTS}`),
  });
  let [ended, last] = [false, ''];
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    last = last.slice(-terminal.length) + chunk.toString('latin1');
    ended ||= last.includes(terminal);
  }
  if (!ended) throw new Error(`${client} from ${upstream}: status ${answer.statusCode}, ${last.slice(-200)}`);
};

const cpuPerEvent = async (child: StreamChild, pair: Pair): Promise<number> => {
  const pool = new Pool(`http://127.0.0.1:${child.port}`, { connections: CONCURRENCY, pipelining: 1 });
  const { cpuUs: before } = await child.measure();
  let left = STREAMS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await readStream(pool, pair);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const { cpuUs: after } = await child.measure();
  await pool.close();
  return (after - before) / (STREAMS * EVENTS);
};

/** Milliseconds from the request to the first byte of its answer, one request at a time. */
const firstByteMs = async (pool: Pool, format: DialectName): Promise<number> => {
  const startedMs = performance.now();
  const answer = await pool.request({
    method: 'POST',
    path: readyStreams[format].path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${BENCH_KEY}` },
    body: requestFor(format, `${format}-1`),
  });
  const arrived = once(answer.body, 'data').then(() => performance.now() - startedMs);
  await Promise.all([arrived, once(answer.body, 'end')]);
  return arrived;
};

const printFirstByte = async (pipe: StreamChild, gateway: StreamChild): Promise<void> => {
  const pools = [pipe, gateway].map(({ port }) => new Pool(`http://127.0.0.1:${port}`, { connections: 1 }));
  const [bare, through]: [number[], number[]] = [[], []];
  for (let n = 0; n < FIRST_BYTES; n++) {
    bare.push(await firstByteMs(pools[0]!, 'messages'));
    through.push(await firstByteMs(pools[1]!, 'messages'));
  }
  await Promise.all(pools.map((pool) => pool.close()));
  const [bareMs, throughMs] = [median(bare.slice(50)), median(through.slice(50))];
  console.log(
    `first byte, p50: pipe ${bareMs.toFixed(2)} ms, sluice ${throughMs.toFixed(2)} ms; added ${(throughMs - bareMs).toFixed(2)} ms (at most 1)`,
  );
};

/** Rounds of the bare pipe and of the gateway interleaved; the ratio is the median of the rounds' ratios. */
const printPair = async (pipe: StreamChild, gateway: StreamChild, pair: Pair): Promise<void> => {
  const { client, upstream } = pair;
  const bareOf = { client: upstream, upstream };
  await cpuPerEvent(gateway, pair);
  const rounds: { bare: number; through: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ bare: await cpuPerEvent(pipe, bareOf), through: await cpuPerEvent(gateway, pair) });
  const ratio = median(rounds.map(({ bare, through }) => through / bare));
  const most = client === upstream ? MOST_SAME : MOST_TRANSLATED;
  console.log(
    `${client} from ${upstream}: pipe ${median(rounds.map(({ bare }) => bare)).toFixed(1)} us, ` +
      `sluice ${median(rounds.map(({ through }) => through)).toFixed(1)} us of CPU per event; ` +
      `ratio ${ratio.toFixed(2)} (at most ${most})${ratio > most ? ' MISSED' : ''}`,
  );
};

const pairs: readonly Pair[] = dialectNames
  .flatMap((client) => dialectNames.map((upstream) => ({ client, upstream })))
  .sort((a, b) => Number(a.client !== a.upstream) - Number(b.client !== b.upstream));

/** CPU of the gateway's process per event of a stream, against a bare pipe of the same upstream's bytes in the same run. */
export const run = async (): Promise<void> => {
  const upstream = await startStreamChild('./stream-upstream-child.js');
  const url = `http://127.0.0.1:${upstream.port}`;
  const pipe = await startStreamChild('./stream-pipe-child.js', url);
  try {
    for (const format of dialectNames) await cpuPerEvent(pipe, { client: format, upstream: format });
    for (const moderation of ['off', 'default']) {
      console.log(`moderation ${moderation}:`);
      const gateway = await startStreamChild('./gateway-child.js', url, moderation);
      try {
        for (const pair of pairs) await printPair(pipe, gateway, pair);
        await printFirstByte(pipe, gateway);
      } finally {
        gateway.stop();
      }
    }
  } finally {
    pipe.stop();
    upstream.stop();
  }
};
