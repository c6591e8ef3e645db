import { readFileSync } from 'node:fs';

/** A file of the package, beside `dist`. */
export const readShipped = (file: string): string =>
  readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

/** The same where it is no text. */
export const readShippedBytes = (file: string): Buffer =>
  readFileSync(new URL(`../../../${file}`, import.meta.url));

export const readVersion = (): string =>
  (JSON.parse(readShipped('package.json')) as { version: string }).version;
