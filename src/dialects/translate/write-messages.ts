import type { Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import type { NeutralRequest, OutputFormat, ToolChoice } from './neutral-request.js';
import { closeSchema, objectSchema } from './schema.js';
import type { Writing } from './upstream-flags.js';
import { writeMessages, writeSystem } from './write-messages-blocks.js';
import { boundTokens, userIdFor } from './write-openai.js';
import { writeThinking } from './write-thinking.js';

/** The version every model and server of this format knows, and the last that takes sampling. */
const VERSION = '2023-06-01';

export const messagesHeaders: Readonly<Record<string, string>> = { 'anthropic-version': VERSION };

/** Tools that may not be called are not shown: the format has no other way to say it. */
const writeTools = ({ tools, toolChoice }: NeutralRequest): Json => {
  const allowed = toolChoice?.allowed ?? null;
  const shown = allowed === null ? tools : tools.filter((tool) => allowed.includes(tool.name));
  if (shown.length === 0) return {};
  return {
    tools: shown.map(({ name, description, schema, strict }) => ({
      name,
      ...(description !== null && { description }),
      input_schema: objectSchema(schema),
      ...(strict !== null && { strict }),
    })),
  };
};

const chosen = (choice: ToolChoice | null): Json => {
  if (choice?.mode === 'tool') return { type: 'tool', name: choice.name };
  return { type: choice?.mode ?? 'auto' };
};

const writeChoice = ({ tools, toolChoice, parallelTools }: NeutralRequest): Json => {
  const forced = toolChoice?.mode === 'any' || toolChoice?.mode === 'tool';
  if (tools.length === 0 && !forced) return {};
  if (toolChoice === null && parallelTools === null) return {};
  const counts = parallelTools !== null && toolChoice?.mode !== 'none';
  return {
    tool_choice: {
      ...chosen(toolChoice),
      ...(counts && { disable_parallel_tool_use: !parallelTools.value }),
    },
  };
};

/** The highest, and what the format takes where none is given. */
const MOST_TEMPERATURE = 1;
const LEAST_TOP_P_WHEN_THINKING = 0.95;

/** The format's temperatures end at 1; newer models take temperature or top_p, and neither beside reasoning. */
const writeSampling = (request: NeutralRequest, thinks: boolean, { flags, ledger }: Writing): Json => {
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty, logitBias } = request.sampling;
  if (logitBias) throw unsupported(logitBias.at, 'the upstream of this model has nothing like it');
  for (const field of [seed, frequencyPenalty, presencePenalty]) ledger.drop(field);
  const degree = temperature && Math.min(temperature.value, MOST_TEMPERATURE);
  const narrow = topP !== null && topP.value < 1;
  const keepsTemperature =
    !flags.dropSampling && degree !== null && (degree === MOST_TEMPERATURE ? !narrow : !thinks);
  const keepsTopP =
    !flags.dropSampling &&
    narrow &&
    (thinks ? topP.value >= LEAST_TOP_P_WHEN_THINKING : true) &&
    !keepsTemperature;
  const keepsTopK = !flags.dropSampling && !thinks;
  if (!keepsTemperature && degree !== MOST_TEMPERATURE) ledger.drop(temperature);
  if (narrow && !keepsTopP) ledger.drop(topP);
  if (!keepsTopK) ledger.drop(topK);
  return {
    ...(keepsTemperature && { temperature: degree }),
    ...(keepsTopP && { top_p: topP.value }),
    ...(keepsTopK && topK && { top_k: topK.value }),
  };
};

const writeStop = ({ stop }: NeutralRequest): Json => {
  if (stop === null) return {};
  if (stop.value.some((text) => text.trim() === ''))
    throw unsupported(stop.at, 'the upstream of this model cannot stop at nothing but space');
  return { stop_sequences: stop.value };
};

const writeFormat = (output: OutputFormat | null, { ledger }: Writing): Json => {
  if (output === null) return {};
  if (output.kind === 'json_object')
    throw unsupported(output.at, 'the upstream of this model needs a schema to answer in JSON');
  ledger.drop(output.name);
  const { schema, description } = output;
  const told = description === null ? schema : { description, ...schema };
  return { format: { type: 'json_schema', schema: closeSchema(told) } };
};

const writeOutputConfig = (effort: string | null, format: Json): Json =>
  effort === null && !('format' in format)
    ? {}
    : { output_config: { ...(effort !== null && { effort }), ...format } };

const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'standard_only',
  standard_only: 'standard_only',
};

const writeTier = ({ serviceTier }: NeutralRequest, { ledger }: Writing): Json => {
  const tier = serviceTier && TIERS[serviceTier.value];
  if (!tier) ledger.drop(serviceTier);
  return tier ? { service_tier: tier } : {};
};

/** The request as a Messages body. */
export const writeMessagesRequest = (request: NeutralRequest, writing: Writing): Json => {
  const { options, ledger, from } = writing;
  if (request.store?.value === true)
    throw unsupported(request.store.at, 'the upstream of this model keeps no answers');
  const { verbosity, metadata, cacheKey, cacheRetention } = request;
  for (const field of [verbosity, metadata, cacheKey, cacheRetention]) ledger.drop(field);
  const maxTokens = boundTokens(request.maxTokens?.value ?? options.defaultMaxTokens, options.mostTokens)!;
  const { thinking, effort } = writeThinking(request, writing, maxTokens);
  const thinks = thinking !== null && thinking.type !== 'disabled';
  const userId = userIdFor('messages', request, from);
  return {
    model: options.upstreamModel,
    max_tokens: maxTokens,
    ...writeSystem(request),
    messages: writeMessages(request, writing),
    ...writeTools(request),
    ...writeChoice(request),
    ...writeSampling(request, thinks, writing),
    ...writeStop(request),
    ...(thinking && { thinking }),
    ...writeOutputConfig(effort, writeFormat(request.output, writing)),
    ...(userId !== null && { metadata: { user_id: userId } }),
    ...writeTier(request, writing),
    ...(request.stream && { stream: true }),
  };
};
