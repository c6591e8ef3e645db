import { readFileSync } from 'node:fs';

/** A file of the package, beside `dist`. */
export const readShipped = (file: string): string =>
  readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

export const readVersion = (): string =>
  (JSON.parse(readShipped('package.json')) as { version: string }).version;
