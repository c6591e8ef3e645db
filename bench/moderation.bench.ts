import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createEmbeddedEngine } from '../src/rules/moderation/embedded.js';
import { loadModel } from '../src/rules/moderation/model-file.js';
import { cpuUs, median } from './support/measures.js';

const ROUNDS = 15;
const STREAMS = 1_000;
const prose = [
  'The committee met on Monday to look at the figures of the last quarter, and nobody was surprised by what it found.',
  'If you want the server to restart by itself, write a unit file, reload the daemon and enable the service at boot.',
  'She had walked along the river for an hour before she noticed that the bridge was closed and the lamps were out.',
  'To bake bread with a thick crust, heat the pot first, keep the dough cold, and score it deeply with a sharp blade.',
  'function parse(input) { const parts = input.split(","); return parts.map((part) => Number(part.trim())); }',
  'Dear all, please find attached the minutes; corrections are welcome until Friday, after which they count as agreed.',
];

/** Ordinary text of about so many characters, different for each number. */
const textOf = (characters: number, seed: number): string => {
  const sentences: string[] = [];
  for (let length = 0, n = seed; length < characters; n++) {
    const sentence = `${prose[(n * 7 + (n >> 2)) % prose.length]!} (${n}) `;
    sentences.push(sentence);
    length += sentence.length;
  }
  return sentences.join('').slice(0, characters);
};

/** CPU of one act, in microseconds: the median of several rounds. */
const measure = (times: number, act: (n: number) => void): number =>
  median(
    Array.from({ length: ROUNDS }, () => {
      const before = cpuUs();
      for (let n = 0; n < times; n++) act(n);
      return (cpuUs() - before) / times;
    }),
  );

/** What a core does in a microsecond, so that figures of a busy machine can be told from those of a slow program. */
const spin = (): number => {
  let state = 1;
  for (let n = 0; n < 1_000_000; n++) state = (state + Math.imul(state ^ n, 16_777_619)) | 0;
  return state;
};

const memoryMb = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

/** CPU of the embedded engine per kilobyte of prompt and per streamed event, and what it keeps in memory. */
export const run = async (): Promise<void> => {
  const file = fileURLToPath(new URL('../../config/moderation/model.bin', import.meta.url));
  const empty = memoryMb();
  const begun = cpuUs();
  const engine = createEmbeddedEngine(loadModel(readFileSync(file)));
  console.log(`load: ${((cpuUs() - begun) / 1e3).toFixed(0)} ms, ${(memoryMb() - empty).toFixed(1)} MB`);
  console.log(`this core: ${(measure(1, spin) / 1e3).toFixed(2)} ms for a million dependent steps`);

  const prompts = Array.from({ length: 64 }, (_, n) => textOf(8_192, n));
  const perKb = measure(64, (n) => engine.judgeNow(prompts[n]!)) / 8;
  console.log(`prompt of 8 KB: ${perKb.toFixed(1)} us per KB`);
  const short = prompts.map((text) => text.slice(0, 80));
  console.log(
    `prompt of 80 characters: ${measure(640, (n) => engine.judgeNow(short[n % 64]!)).toFixed(1)} us`,
  );

  const answer = textOf(2_000, 99);
  const stream = (suspecting: boolean) => (): void => {
    const follower = engine.follow(short[0]!);
    for (let from = 0; from < answer.length; from += 4) {
      follower.write(answer.slice(from, from + 4));
      if (suspecting) follower.suspicion();
    }
    follower.end();
  };
  const events = answer.length / 4;
  for (const [name, suspecting] of [
    ['verdicts only', false],
    ['with suspicion at every event', true],
  ] as const)
    console.log(
      `event of 4 characters, ${name}: ${(measure(40, stream(suspecting)) / events).toFixed(2)} us`,
    );

  const before = memoryMb();
  const open = Array.from({ length: STREAMS }, () => engine.follow(short[0]!));
  for (const follower of open) follower.write(answer.slice(0, 400));
  console.log(`memory: ${(((memoryMb() - before) / STREAMS) * 1e3).toFixed(1)} KB per open stream`);
  for (const follower of open) follower.end();
};
