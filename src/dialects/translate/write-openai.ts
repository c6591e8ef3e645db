import { createHash } from 'node:crypto';
import type { DialectName, Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import { effortOfBudget } from './reasoning.js';
import { fitsStrictMode } from './schema.js';
import type {
  DocumentPart,
  ImagePart,
  NeutralRequest,
  OutputFormat,
  Part,
  ToolChoice,
} from './neutral-request.js';
import type { Writing } from './upstream-flags.js';

const vendorOf = (dialect: DialectName): string => (dialect === 'messages' ? 'anthropic' : 'openai');

/** Who the user is stays with the vendor that was told; another gets a name that means nothing to it. */
export const userIdFor = (to: DialectName, { userId }: NeutralRequest, from: DialectName): string | null => {
  if (userId === null || vendorOf(from) === vendorOf(to)) return userId?.value ?? null;
  return createHash('sha256').update(userId.value).digest('hex');
};

export const boundTokens = (wanted: number | null, most: number | undefined): number | null =>
  most === undefined ? wanted : Math.min(wanted ?? most, most);

/** The one word with which both formats ask for reasoning; null = leave it to the model. */
export const effortWord = ({ reasoning }: NeutralRequest, { flags, ledger }: Writing): string | null => {
  const { wanted, effort, budgetTokens } = reasoning;
  if (flags.dropReasoning) {
    for (const field of [wanted, effort, budgetTokens]) ledger.drop(field);
    return null;
  }
  if (wanted?.value === false) {
    ledger.drop(effort);
    return 'none';
  }
  if (effort !== null) {
    ledger.drop(budgetTokens);
    return effort.value;
  }
  if (budgetTokens !== null) return effortOfBudget(budgetTokens.value);
  ledger.drop(wanted);
  return null;
};

const TIERS: Readonly<Record<string, string>> = { standard_only: 'default' };

type SharedFields = Pick<NeutralRequest, 'cacheKey' | 'cacheRetention' | 'serviceTier'>;

/** Fields both formats spell alike. */
export const writeShared = ({ cacheKey, cacheRetention, serviceTier }: SharedFields): Json => ({
  ...(cacheKey && { prompt_cache_key: cacheKey.value }),
  ...(cacheRetention && { prompt_cache_retention: cacheRetention.value }),
  ...(serviceTier && { service_tier: TIERS[serviceTier.value] ?? serviceTier.value }),
});

/** How several tools may be called means something only where there are tools. */
export const writeParallel = ({ tools, parallelTools }: NeutralRequest): Json =>
  tools.length > 0 && parallelTools ? { parallel_tool_calls: parallelTools.value } : {};

type JsonSchemaOutput = Extract<OutputFormat, { kind: 'json_schema' }>;

const DEFAULT_SCHEMA_NAME = 'answer';

/** Anthropic's output always keeps to its schema: so does ours where it can. */
export const namedSchema = (output: JsonSchemaOutput, from: DialectName): Json => {
  const strict = output.strict ?? (from === 'messages' && fitsStrictMode(output.schema) ? true : null);
  return {
    name: output.name?.value ?? DEFAULT_SCHEMA_NAME,
    ...(output.description !== null && { description: output.description }),
    schema: output.schema,
    ...(strict !== null && { strict }),
  };
};

const ERROR_MARK = '[tool error]';

/** Neither format has a field for a tool's failure: the text says it. */
export const markError = (text: string): string => (text === '' ? ERROR_MARK : `${ERROR_MARK} ${text}`);

export const joinTexts = (parts: readonly Part[]): string =>
  parts.map((part) => ('text' in part ? part.text : '')).join('\n\n');

/** Ids of uploaded files are known only to the provider that gave them. */
export const refuseFileId = (part: ImagePart | DocumentPart): never => {
  throw unsupported(part.at, 'the id of an uploaded file means nothing to the upstream of this model');
};

const CHOICES: Readonly<Record<Exclude<ToolChoice['mode'], 'tool'>, string>> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
};

/** How a format names a function, and the few that may be called. */
export interface ChoiceForms {
  readonly named: (name: string) => Json;
  readonly allowed: (mode: string, tools: readonly Json[]) => Json;
}

const choiceOf = ({ mode, name, allowed }: ToolChoice, forms: ChoiceForms): unknown => {
  if (mode === 'tool') return forms.named(name ?? '');
  return allowed === null ? CHOICES[mode] : forms.allowed(CHOICES[mode], allowed.map(forms.named));
};

/** Without tools a choice that forces none says nothing, and servers refuse it. */
export const writeChoice = ({ tools, toolChoice }: NeutralRequest, forms: ChoiceForms): Json => {
  if (toolChoice === null) return {};
  const idle = tools.length === 0 && (toolChoice.mode === 'auto' || toolChoice.mode === 'none');
  return idle ? {} : { tool_choice: choiceOf(toolChoice, forms) };
};
