import type { Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import type { NeutralRequest } from './neutral-request.js';
import { objectSchema } from './schema.js';
import type { Writing } from './upstream-flags.js';
import {
  boundTokens,
  effortWord,
  joinTexts,
  namedSchema,
  userIdFor,
  writeChoice,
  writeParallel,
  writeShared,
  type ChoiceForms,
} from './write-openai.js';
import { writeItems } from './write-responses-items.js';

/** OpenAI answers 400 to a smaller bound. */
const LEAST_TOKENS = 16;

/** Unlike the other formats this one makes functions strict unless told otherwise. */
const writeTools = ({ tools }: NeutralRequest): Json =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, schema, strict }) => ({
          type: 'function',
          name,
          ...(description !== null && { description }),
          parameters: objectSchema(schema),
          strict: strict ?? false,
        })),
      };

const choiceForms: ChoiceForms = {
  named: (name) => ({ type: 'function', name }),
  allowed: (mode, tools) => ({ type: 'allowed_tools', mode, tools }),
};

const writeSampling = ({ sampling }: NeutralRequest, { flags, ledger }: Writing): Json => {
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty, logitBias } = sampling;
  if (logitBias) throw unsupported(logitBias.at, 'the upstream of this model has nothing like it');
  for (const field of [topK, seed, frequencyPenalty, presencePenalty]) ledger.drop(field);
  if (flags.dropSampling) {
    ledger.drop(temperature);
    ledger.drop(topP);
    return {};
  }
  return {
    ...(temperature && { temperature: temperature.value }),
    ...(topP && { top_p: topP.value }),
  };
};

const writeReasoning = (request: NeutralRequest, writing: Writing): Json => {
  const { summary } = request.reasoning;
  const effort = effortWord(request, writing);
  if (writing.flags.dropReasoning) {
    writing.ledger.drop(summary);
    return {};
  }
  const shown = summary !== null && summary.value !== 'none';
  if (effort === null && !shown) return {};
  return {
    reasoning: {
      ...(effort !== null && { effort }),
      ...(shown && { summary: summary.value }),
    },
    // Only the Messages format has a place where a client keeps the proof for its next request.
    ...(writing.from === 'messages' && effort !== 'none' && { include: ['reasoning.encrypted_content'] }),
  };
};

const writeText = ({ output, verbosity }: NeutralRequest, { from }: Writing): Json => {
  if (output === null && verbosity === null) return {};
  return {
    text: {
      ...(output && {
        format:
          output.kind === 'json_object'
            ? { type: 'json_object' }
            : { type: 'json_schema', ...namedSchema(output, from) },
      }),
      ...(verbosity && { verbosity: verbosity.value }),
    },
  };
};

const writeMaxTokens = ({ maxTokens }: NeutralRequest, { options, ledger }: Writing): Json => {
  const bound = boundTokens(maxTokens?.value ?? null, options.mostTokens);
  if (bound === null) return {};
  if (bound < LEAST_TOKENS) ledger.drop(maxTokens);
  return { max_output_tokens: Math.max(bound, LEAST_TOKENS) };
};

/** The request as a Responses body. What the client did not ask to be kept is not kept. */
export const writeResponsesRequest = (request: NeutralRequest, writing: Writing): Json => {
  const { stop, system, metadata, store, stream } = request;
  if (stop) throw unsupported(stop.at, 'the upstream of this model cannot stop at a text');
  const userId = userIdFor('responses', request, writing.from);
  return {
    model: writing.options.upstreamModel,
    ...(system.length > 0 && { instructions: joinTexts(system) }),
    input: writeItems(request, writing),
    ...writeMaxTokens(request, writing),
    ...writeTools(request),
    ...writeChoice(request, choiceForms),
    ...writeParallel(request),
    ...writeSampling(request, writing),
    ...writeReasoning(request, writing),
    ...writeText(request, writing),
    ...(userId !== null && { safety_identifier: userId }),
    ...(metadata && { metadata: metadata.value }),
    ...writeShared(request),
    store: store?.value ?? false,
    ...(stream && { stream: true }),
  };
};
