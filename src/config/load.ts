import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { builtIn } from './built-in.js';
import { placeFindings, type Fault, type Finding } from './faults.js';
import { reasonOf, resolveReferences, type Environment } from './references.js';
import type { Config } from './schema.js';
import { validate } from './validate.js';

export interface Loaded {
  readonly config: Config;
  /** Files whose content counts: itself, every `${file:...}`, certificates and keys. */
  readonly files: readonly string[];
}

export type LoadResult = Loaded | { readonly faults: readonly Fault[] };

const FILE_BOUND_BYTES = 4 * 1_048_576;
const ALIAS_BOUND = 100;

/** Reads a configuration file, or the built-in one; all faults at once. Relative paths start at the file's folder. */
export async function loadConfig(file: string | null, environment: Environment): Promise<LoadResult> {
  if (file === null) return finish(builtIn, '(built-in configuration)', null, environment, process.cwd());
  let text: string;
  try {
    if ((await stat(file)).size > FILE_BOUND_BYTES) throw new Error('larger than 4 MiB');
    text = await readFile(file, 'utf8');
  } catch (error) {
    return {
      faults: [{ file, line: 0, column: 0, path: '', message: `cannot be read (${reasonOf(error)})` }],
    };
  }
  return parseConfig(text, file, environment);
}

/** The same for a text that is already here; `file` names it in faults and anchors its relative paths. */
export async function parseConfig(text: string, file: string, environment: Environment): Promise<LoadResult> {
  const lines = new LineCounter();
  const faultAt = (offset: number, message: string): Fault => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col, path: '', message };
  };
  let document: Document;
  let value: unknown;
  const faults: Fault[] = [];
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: true,
      merge: true,
    });
    for (const { pos, message, code } of [...document.errors, ...document.warnings]) {
      const fault = faultAt(pos[0], withoutSource(message));
      // One slip makes the parser stumble over the rest of its line.
      if (code !== 'DUPLICATE_KEY' && faults.some(({ line }) => line === fault.line)) continue;
      const quoting = code !== 'DUPLICATE_KEY' && lineAt(text, pos[0]).includes('${');
      faults.push(
        quoting ? { ...fault, message: `${fault.message}; inside { } or [ ] put \${...} in quotes` } : fault,
      );
    }
    if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return { faults };
    value = document.toJS({ maxAliasCount: ALIAS_BOUND });
  } catch (error) {
    // The parser recurses, and refuses aliases that multiply: both are the file's fault, not ours.
    const message = error instanceof RangeError ? 'is nested too deeply' : withoutSource(String(error));
    return { faults: [...faults, { file, line: 1, column: 1, path: '', message }] };
  }
  const result = await finish(value, file, { document, lines }, environment, dirname(resolve(file)));
  if (faults.length === 0) return result;
  return { faults: [...faults, ...('faults' in result ? result.faults : [])].sort(byPlace) };
}

const lineAt = (text: string, offset: number): string => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  return text.slice(start, end === -1 ? undefined : end);
};

const byPlace = (one: Fault, other: Fault): number => one.line - other.line || one.column - other.column;

/** The parser quotes what it stumbled over, which may be half a secret. */
const withoutSource = (message: string): string =>
  message
    .replace(/^\w*Error: /, '')
    .replace(/:? ["'`].*$/s, '')
    .replace(/^Map keys must be unique$/, 'this key appears twice in the same map');

async function finish(
  given: unknown,
  file: string,
  source: { readonly document: Document; readonly lines: LineCounter } | null,
  environment: Environment,
  folder: string,
): Promise<LoadResult> {
  const { value, findings, outside, files } = await resolveReferences(given, folder, environment);
  const unresolved = new Set(findings.map(({ path }) => JSON.stringify(path)));
  const validated = validate(value, outside, folder);
  const all: Finding[] = [...findings];
  if ('findings' in validated)
    // What a missing variable left empty is not worth a second complaint.
    all.push(...validated.findings.filter(({ path }) => !unresolved.has(JSON.stringify(path))));
  if (all.length > 0 || 'findings' in validated) return { faults: placeFindings(all, file, source) };
  const { config } = validated;
  return { config, files: [...(source === null ? [] : [resolve(file)]), ...files, ...pemFiles(config)] };
}

const pemFiles = ({ server: { tls }, providers }: Config): string[] => [
  ...(tls ? [tls.cert, tls.key] : []),
  ...Object.values(providers).flatMap((provider) =>
    provider.kind !== 'simulator' && provider.ca_file !== '' ? [provider.ca_file] : [],
  ),
];
