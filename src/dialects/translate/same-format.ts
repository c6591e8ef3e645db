import type { UpstreamFlags } from '../../core/upstream-flags.js';
import type { DialectName, Json } from '../dialect.js';
import { isObject } from '../event.js';
import { Ledger } from './ledger.js';

export interface Adapted {
  readonly body: Json;
  /** The fields that were left out, by name (D42). */
  readonly dropped: readonly string[];
}

const SAMPLING: Readonly<Record<DialectName, readonly string[]>> = {
  messages: ['temperature', 'top_p', 'top_k'],
  chat: ['temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'],
  responses: ['temperature', 'top_p'],
};

const REASONING: Readonly<Record<DialectName, readonly string[]>> = {
  messages: ['thinking', 'output_config.effort'],
  chat: ['reasoning_effort'],
  responses: ['reasoning'],
};

/** Tools the caller runs; an absent type is a function of the caller's own. */
const CALLERS_TOOLS: Readonly<Record<DialectName, readonly unknown[]>> = {
  messages: [undefined, 'custom'],
  chat: ['function', 'custom'],
  responses: ['function', 'custom'],
};

const SYSTEM_ROLES: readonly unknown[] = ['system', 'developer'];

const less = (json: Json, ...keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(json).filter(([key]) => !keys.includes(key)));

/** The body less the field at this path, which has one key or two. */
const without = (body: Json, path: string, ledger: Ledger): Json => {
  const [key = '', inner] = path.split('.');
  const value = body[key];
  if (value === undefined || value === null) return body;
  if (inner !== undefined && !(isObject(value) && inner in value)) return body;
  ledger.drop({ at: path });
  if (inner === undefined) return less(body, key);
  const left = less(value as Json, inner);
  return Object.keys(left).length > 0 ? { ...body, [key]: left } : less(body, key);
};

const withoutServerTools = (format: DialectName, given: Json, ledger: Ledger): Json => {
  const body = without(given, 'web_search_options', ledger);
  if (!Array.isArray(body.tools)) return body;
  const tools = (body.tools as unknown[]).filter((tool, index) => {
    const kept = !isObject(tool) || CALLERS_TOOLS[format].includes(tool.type);
    if (!kept) ledger.drop({ at: `tools.${index}` });
    return kept;
  });
  if (tools.length > 0) return { ...body, tools };
  // A choice among no tools is refused everywhere.
  return less(body, 'tools', 'tool_choice');
};

const blocksOf = (content: unknown): readonly unknown[] => {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
};

const isSystem = (item: unknown): boolean => isObject(item) && SYSTEM_ROLES.includes(item.role);

const liftSystemTurns = (format: DialectName, body: Json): Json => {
  const key = format === 'responses' ? 'input' : 'messages';
  const list = body[key];
  if (!Array.isArray(list) || !list.some(isSystem)) return body;
  const lifted: unknown[] = list.filter(isSystem);
  const rest: unknown[] = list.filter((item) => !isSystem(item));
  if (format !== 'messages') return { ...body, [key]: [...lifted, ...rest] };
  const blocks = lifted.flatMap((turn) => blocksOf((turn as Json).content));
  return { ...body, system: [...blocksOf(body.system), ...blocks], messages: rest };
};

const renameBound = (body: Json): Json => {
  const { max_completion_tokens: bound, ...rest } = body;
  return bound === undefined || bound === null ? body : { max_tokens: bound, ...rest };
};

/** A body for an upstream of its own format, less what this one refuses. */
export const adaptBody = (format: DialectName, given: Json, flags: Partial<UpstreamFlags> = {}): Adapted => {
  const ledger = new Ledger();
  let body = given;
  if (flags.dropSampling) for (const path of SAMPLING[format]) body = without(body, path, ledger);
  if (flags.dropReasoning) for (const path of REASONING[format]) body = without(body, path, ledger);
  if (flags.dropServerTools) body = withoutServerTools(format, body, ledger);
  if (flags.liftSystemTurns) body = liftSystemTurns(format, body);
  if (flags.maxTokensField === 'max_tokens' && format === 'chat') body = renameBound(body);
  return { body, dropped: ledger.dropped() };
};
