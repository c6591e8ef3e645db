import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Finding, Path } from './faults.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Resolved {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** Paths whose values came, in part or whole, from outside the file: never to be shown. */
  readonly outside: ReadonlySet<string>;
  /** Files that `${file:...}` read. */
  readonly files: readonly string[];
}

export const pathKey = (path: Path): string => JSON.stringify(path);

const REFERENCE = /\$(\$\{)|\$\{([^}]*)\}|(\$\{)/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const SECRET_BOUND_BYTES = 1_048_576;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:PATH}` inside the text values of a parsed file; `$${` stands for
 * a plain `${`. What comes in is never read again, so a variable cannot smuggle in a further reference.
 */
export async function resolveReferences(
  root: unknown,
  folder: string,
  environment: Environment,
): Promise<Resolved> {
  const findings: Finding[] = [];
  const outside = new Set<string>();
  const files = new Map<string, Promise<string>>();

  const readSecret = (name: string): Promise<string> => {
    const file = resolve(folder, name);
    let content = files.get(file);
    if (!content) files.set(file, (content = readBounded(file)));
    return content;
  };

  const lookUp = async (body: string, path: Path): Promise<string> => {
    outside.add(pathKey(path));
    if (body.startsWith('file:')) {
      try {
        return await readSecret(body.slice('file:'.length));
      } catch (error) {
        findings.push({ path, message: `the file it names cannot be read (${reasonOf(error)})` });
        return '';
      }
    }
    const [, name, fallback] = NAME.exec(body) ?? [];
    if (name === undefined) {
      findings.push({
        path,
        message: 'is not a reference; write ${NAME}, ${NAME:-default} or ${file:PATH}, or $${ for a plain ${',
      });
      return '';
    }
    const value = environment[name];
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined)
      findings.push({ path, message: `the environment variable ${name} is not set and has no default` });
    return value ?? '';
  };

  const resolveText = async (text: string, path: Path): Promise<string> => {
    if (!text.includes('${')) return text;
    let result = '';
    let end = 0;
    for (const match of text.matchAll(REFERENCE)) {
      result += text.slice(end, match.index);
      end = match.index + match[0].length;
      result += match[1] ?? (await lookUp(match[2] ?? '', path));
    }
    return result + text.slice(end);
  };

  const walk = async (value: unknown, path: Path): Promise<unknown> => {
    if (typeof value === 'string') return resolveText(value, path);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const [index, item] of value.entries()) items.push(await walk(item, [...path, index]));
      return items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(value)) entries.push([key, await walk(item, [...path, key])]);
    return Object.fromEntries(entries);
  };

  const value = await walk(root, []);
  return { value, findings, outside, files: [...files.keys()] };
}

async function readBounded(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > SECRET_BOUND_BYTES) throw new Error('larger than 1 MiB');
  return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
}

export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
