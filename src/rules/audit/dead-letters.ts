import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { erased } from './event.js';
import type { DeadLetter } from './parcels.js';
import { MEMORY } from './spool-file.js';

const FOLDER = 'dead-letters';
/** What stands before the event in a line; quotes inside of texts are escaped, so it is nowhere else. */
const MARK = ',"event":';
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Events that a destination will never take, one JSON line each with the reason; at most two files per sink. */
export class DeadLetters {
  readonly #folder: string | null;
  readonly #largestBytes: number;

  constructor(spoolFolder: string, largestBytes = LARGEST_BYTES) {
    this.#folder = spoolFolder === MEMORY ? null : join(spoolFolder, FOLDER);
    this.#largestBytes = largestBytes;
  }

  /** Throws when they cannot be written: then the events are not done yet. */
  add(sinkId: string, letters: readonly DeadLetter[], at: string): void {
    if (this.#folder === null || letters.length === 0) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#fileOf(sinkId);
    if (existsSync(file) && statSync(file).size >= this.#largestBytes) renameSync(file, `${file}.old`);
    const lines = letters.map(
      ({ item, reason }) =>
        `{"at":"${at}","sink_id":${JSON.stringify(sinkId)},"reason":${JSON.stringify(reason)}${MARK}${item.json}}\n`,
    );
    appendFileSync(file, lines.join(''), { mode: 0o600 });
  }

  /** Leaves of matching events only their place in the chain, also in the files of sinks that are gone. */
  erase(matches: (json: string) => boolean): void {
    if (this.#folder === null || !existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder))
      if (/\.ndjson(\.old)?$/.test(name)) rewrite(join(this.#folder, name), matches);
  }

  #fileOf(sinkId: string): string {
    return join(this.#folder!, `${encodeURIComponent(sinkId)}.ndjson`);
  }
}

function rewrite(file: string, matches: (json: string) => boolean): void {
  const before = readFileSync(file, 'utf8');
  const after = before
    .split('\n')
    .map((line) => {
      const start = line.indexOf(MARK) + MARK.length;
      const json = line.slice(start, -1);
      return line !== '' && matches(json) ? `${line.slice(0, start)}${erased(json)}}` : line;
    })
    .join('\n');
  if (after === before) return;
  writeFileSync(`${file}.new`, after, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
