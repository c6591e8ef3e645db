import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/commands/run.js';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly finished: Promise<Finished>;
}

/** Starts a script as a process of its own, with an environment that holds nothing but what is given. */
export function start(
  script: string,
  words: readonly string[],
  { cwd, env = {} }: Surroundings = {},
): Running {
  const child = spawn(process.execPath, [script, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const finished = once(child, 'close').then(() => ({ code: child.exitCode, out, err }));
  return { child, out: () => out, err: () => err, finished };
}

export const startSluice = (words: readonly string[], surroundings?: Surroundings): Running =>
  start(MAIN, words, surroundings);

/** The compiled program, as a user runs it. */
export const sluice = (words: readonly string[], surroundings?: Surroundings): Promise<Finished> =>
  startSluice(words, surroundings).finished;

/** The same within this process: quick, but without the process's own affairs. */
export async function sluiceHere(
  words: readonly string[],
  { env = {} }: Pick<Surroundings, 'env'> = {},
): Promise<Finished> {
  let [out, err] = ['', ''];
  const code = await run(words, {
    out: (text) => void (out += `${text}\n`),
    err: (text) => void (err += `${text}\n`),
    isInteractive: false,
    environment: env,
  });
  return { code, out, err };
}
