import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const PEPPER_BYTES = 32;
const FILE_NAME = 'pepper';

export interface PepperOptions {
  /** The configured pepper; empty = none. */
  readonly given: string;
  /** Where a generated one may live: in the store's folder, in this process, or nowhere (a shared store). */
  readonly keep: { readonly folder: string } | 'memory' | 'nowhere';
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | null)?.code;

const checked = (text: string, source: string): Buffer => {
  const pepper = Buffer.from(text.trim());
  if (pepper.length < PEPPER_BYTES)
    throw new Error(`${source} must be at least ${PEPPER_BYTES} bytes long. Try: openssl rand -hex 32`);
  return pepper;
};

/** Text rather than raw bytes: its content can be moved into the configuration as it stands. */
const generate = (): string => randomBytes(PEPPER_BYTES).toString('hex');

const readOrNull = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** A link appears whole or not at all, and only the first of several starting processes makes it. */
const createOnce = async (folder: string, path: string): Promise<void> => {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeDurably(draft, `${generate()}\n`);
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** The server-side key under which secrets are hashed (D3, D48). Losing it makes every key unusable. */
export const loadPepper = async ({ given, keep }: PepperOptions): Promise<Buffer> => {
  if (given !== '') return checked(given, 'auth.pepper');
  if (keep === 'memory') return Buffer.from(generate());
  if (keep === 'nowhere')
    throw new Error(
      'auth.pepper must be set when the store is shared: every replica needs the same one. Try: openssl rand -hex 32',
    );
  const path = join(keep.folder, FILE_NAME);
  let text = await readOrNull(path);
  if (text === null) {
    await createOnce(keep.folder, path);
    text = await readFile(path, 'utf8');
  }
  return checked(text, `The pepper in ${path}`);
};
