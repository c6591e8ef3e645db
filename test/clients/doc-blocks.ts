import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readRepositoryFile } from '../support/repository.js';

export interface DocBlock {
  readonly language: string;
  readonly code: string;
  /** What it imports. */
  readonly packages: readonly string[];
  readonly heading: string;
}

/** The code of docs/clients.md, block by block. */
export const readDocBlocks = (): readonly DocBlock[] => {
  const page = readRepositoryFile('docs/clients.md');
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(({ 1: language, 2: code, index }) => ({
    language: language!,
    code: code!,
    packages: [...code!.matchAll(/ from '([^']+)';$/gm)].map(([, name]) => name!),
    heading: [...page.slice(0, index).matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
  }));
};

/** Runs a file as a reader would, with the address and the key in the environment and nothing else. */
export const runBlock = async (program: string, file: string, url: string, key: string) => {
  const child = spawn(program, [file], {
    env: { PATH: process.env['PATH'] ?? '', SLUICE_URL: url, SLUICE_API_KEY: key },
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
};
