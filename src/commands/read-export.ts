import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { parse, unwrap } from '../rules/audit/verify.js';

type Event = Readonly<Record<string, unknown>>;
/** false = no more is wanted. */
type Take = (event: Event, place: string) => boolean;

/** A line that is longer is no event. */
const LONGEST_LINE = 16 * 1024 * 1024;
const GZIP_MAGIC = [0x1f, 0x8b];

/** Reads the events of one exported file, a line at a time; gives how many lines had none. */
export async function readExport(path: string, take: Take): Promise<number> {
  const seen = { otherLines: 0, isDone: false };
  const takeLine = (line: string, number: number): boolean => {
    const place = `${path}:${number}`;
    const value = parse(line);
    // What cannot be read at all is told as an event that is wrong.
    if (value === undefined) return take({}, place);
    const events = (Array.isArray(value) ? value : [value]).map((one) => unwrap(one));
    if (!events.some((event) => event !== null)) seen.otherLines++;
    return events.every((event) => event === null || take(event, place));
  };
  const zipped = await isGzip(path);
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const [number, line] of linesOf(chunks)) {
      seen.isDone = !takeLine(line, number);
      if (seen.isDone) return;
    }
  };
  try {
    const file = createReadStream(path);
    await (zipped ? pipeline(file, createGunzip(), read) : pipeline(file, read));
  } catch (error) {
    // A reader that has enough closes the file early, which is no fault.
    if (seen.isDone) return seen.otherLines;
    if (!isBadGzip(error)) throw error;
    take({}, `${path} (its compression is damaged or cut off)`);
  }
  return seen.otherLines;
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly [number, string]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop()!;
    if (rest.length > LONGEST_LINE) rest = rest.slice(0, LONGEST_LINE); // no JSON any more, and told as such
    for (const line of lines) {
      number++;
      if (line.trim() !== '') yield [number, line];
    }
  }
  rest += decoder.end();
  if (rest.trim() !== '') yield [number + 1, rest];
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && GZIP_MAGIC.every((byte, n) => buffer[n] === byte);
  } finally {
    await file.close();
  }
}

const isBadGzip = (error: unknown): boolean =>
  String((error as NodeJS.ErrnoException | null)?.code).startsWith('Z_');

/** In the order in which the events were made, whatever the order of the names: a shell sorts 10 before 9. */
export async function sortExports(paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length < 2) return paths;
  const firsts = await Promise.all(paths.map(readFirst));
  const byTime = firsts.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const sorted = new Map<string, Iterator<First>>();
  for (const { chain } of byTime)
    if (!sorted.has(chain))
      sorted.set(
        chain,
        byTime
          .filter((one) => one.chain === chain)
          .sort((a, b) => a.seq - b.seq)
          .values(),
      );
  // Within a chain the numbers decide: an event may be older than those before it.
  return byTime.map(({ chain }) => (sorted.get(chain)!.next().value as First).path);
}

interface First {
  readonly path: string;
  readonly chain: string;
  readonly seq: number;
  readonly createdAt: string;
}

async function readFirst(path: string): Promise<First> {
  let first: First = { path, chain: '', seq: 0, createdAt: '' };
  await readExport(path, ({ org_id, instance_id, seq, created_at }) => {
    const chain = JSON.stringify([org_id, instance_id]);
    first = { path, chain, seq: Number(seq), createdAt: String(created_at) };
    return false;
  });
  return first;
}
