import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { findConflicts } from './conflicts.js';
import { servesModel } from './conflicts/models.js';
import type { Finding, Path } from './faults.js';
import { pathKey } from './references.js';
import { configSchema, type Config } from './schema.js';
import { findStrangers } from './shape.js';
import { didYouMean } from './suggest.js';

type Issue = v.BaseIssue<unknown>;

export type Validated = { readonly config: Config } | { readonly findings: readonly Finding[] };

/** Checks a parsed value against the schema and itself; all findings at once. `outside`: values never to be shown. */
export function validate(
  given: unknown,
  outside: ReadonlySet<string> = new Set(),
  folder = process.cwd(),
): Validated {
  if (given === null || given === undefined || typeof given !== 'object' || Array.isArray(given))
    return { findings: [{ path: [], message: 'must be a map of keys that begins with version: 1' }] };

  let value: object = given;
  let result = v.safeParse(configSchema, value);
  const fitted = fitReferences(value, result.issues ?? [], outside);
  if (fitted) {
    value = fitted;
    result = v.safeParse(configSchema, value);
  }

  const strangers = findStrangers(configSchema, value);
  const meant = new Set(strangers.meant.map(pathKey));
  const findings = [...strangers.findings];
  const faulty = new Set(strangers.findings.map(({ path, atKey }) => (atKey === true ? null : path[0])));
  for (const issue of result.issues ?? []) {
    const path = pathOf(issue);
    if (isUnknownKey(issue)) continue;
    faulty.add(path[0]);
    if (isMissingKey(issue) && meant.has(pathKey(path))) continue;
    findings.push({ path, message: explain(issue, outside.has(pathKey(path))), atKey: isRecordKey(issue) });
  }
  // Sections without an issue hold their final values even where others failed.
  const config = result.output as Config;
  const sound = (section: string): boolean => !faulty.has(section);
  const settled = sound('models') && sound('credits') ? settleFreeRequest(config, value) : config;
  findings.push(...findConflicts(settled, value, sound));
  return findings.length > 0 ? { findings } : { config: deepFreeze(resolvePaths(settled, folder)) };
}

const pathOf = (issue: Issue): Path => (issue.path ?? []).map((item) => item.key as string | number);
const isUnknownKey = (issue: Issue): boolean => issue.type === 'strict_object' && issue.expected === 'never';
const isMissingKey = (issue: Issue): boolean =>
  issue.type === 'strict_object' && issue.path?.at(-1)?.origin === 'key' && !isUnknownKey(issue);
const isRecordKey = (issue: Issue): boolean =>
  issue.type !== 'strict_object' && issue.path?.at(-1)?.origin === 'key';

/** Text from a variable where a number or a boolean is wanted is read as one: `port: ${PORT:-8080}`. */
function fitReferences(value: object, issues: readonly Issue[], outside: ReadonlySet<string>): object | null {
  const fits = new Map<string, number | boolean>();
  for (const { path, issue } of issues.map((one) => ({ path: pathOf(one), issue: one }))) {
    if (typeof issue.input !== 'string' || !outside.has(pathKey(path))) continue;
    if (issue.type === 'number' && /^-?\d+(?:\.\d+)?$/.test(issue.input))
      fits.set(pathKey(path), Number(issue.input));
    if (issue.type === 'boolean' && /^(?:true|false)$/.test(issue.input))
      fits.set(pathKey(path), issue.input === 'true');
  }
  const copy = (item: unknown, path: Path): unknown => {
    if (Array.isArray(item)) return item.map((one, index) => copy(one, [...path, index]));
    if (typeof item === 'object' && item !== null)
      return Object.fromEntries(Object.entries(item).map(([key, one]) => [key, copy(one, [...path, key])]));
    return fits.get(pathKey(path)) ?? item;
  };
  return fits.size === 0 ? null : (copy(value, []) as object);
}

/** What to write instead. Says nothing of the value itself: it may be a secret. */
function explain(issue: Issue, secret: boolean): string {
  const own = issue.message;
  if (!own.startsWith('Invalid ')) return own;
  if (isMissingKey(issue)) return 'is missing';
  const words = [...(issue.expected ?? '').matchAll(/"([^"]*)"/g)].map((match) => match[1]!);
  if (issue.input === null) return 'has no value; give one or remove the key';
  if (words.length > 0) {
    if (issue.input === undefined) return `is missing; it must be one of ${words.join(', ')}`;
    const hint = typeof issue.input === 'string' && !secret ? didYouMean(issue.input, words) : '';
    return words.length === 1 ? `must be ${words[0]!}${hint}` : `must be one of ${words.join(', ')}${hint}`;
  }
  switch (issue.expected) {
    case 'string':
      return typeof issue.input === 'object' ? 'must be text' : 'must be text; put it in quotes';
    case 'number':
      return 'must be a number';
    case 'boolean':
      return 'must be true or false';
    case 'Array':
      return 'must be a list';
    case 'Object':
      return 'must be a map of keys';
    default:
      return `must be ${issue.expected ?? 'something else'}`;
  }
}

/** The free request is on by default where its default model exists; asked for by name, the model must exist. */
function settleFreeRequest(config: Config, given: { credits?: { free_request?: object } }): Config {
  const asked = given.credits?.free_request ?? {};
  const free = config.credits.free_request;
  if ('enabled' in asked || 'model' in asked || servesModel(config.models, free.model)) return config;
  return { ...config, credits: { ...config.credits, free_request: { ...free, enabled: false } } };
}

/** Paths start at the folder of the file, so that a command run elsewhere opens the same store. */
function resolvePaths(config: Config, folder: string): Config {
  const { server, store, providers, audit } = config;
  const at = (path: string): string => (path === '' ? '' : resolve(folder, path));
  return {
    ...config,
    server: { ...server, tls: server.tls && { cert: at(server.tls.cert), key: at(server.tls.key) } },
    store: { ...store, path: store.path === MEMORY ? MEMORY : at(store.path) },
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, provider]) => [
        name,
        provider.kind === 'simulator' ? provider : { ...provider, ca_file: at(provider.ca_file) },
      ]),
    ),
    audit: { ...audit, spool: { ...audit.spool, path: spoolAt(config, at) } },
  };
}

const MEMORY = ':memory:';
const DEFAULT_SPOOL = './.sluice/audit';

/** Unless told otherwise the trail lies in the folder of the embedded store, and nowhere where that keeps nothing. */
function spoolAt({ store, audit }: Config, at: (path: string) => string): string {
  const { path } = audit.spool;
  if (path === MEMORY) return MEMORY;
  if (store.kind !== 'embedded' || path !== DEFAULT_SPOOL) return at(path);
  return store.path === MEMORY ? MEMORY : join(at(store.path), 'audit');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
