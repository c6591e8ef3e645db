import type { Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import type { NeutralRequest } from './neutral-request.js';
import type { Writing } from './upstream-flags.js';
import { writeChatMessages } from './write-chat-turns.js';
import {
  boundTokens,
  effortWord,
  namedSchema,
  userIdFor,
  writeChoice,
  writeParallel,
  writeShared,
  type ChoiceForms,
} from './write-openai.js';

const STOPS_BOUND = 4;

const writeTools = ({ tools }: NeutralRequest): Json =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, schema, strict }) => ({
          type: 'function',
          function: {
            name,
            ...(description !== null && { description }),
            ...(schema !== null && { parameters: schema }),
            ...(strict !== null && { strict }),
          },
        })),
      };

const choiceForms: ChoiceForms = {
  named: (name) => ({ type: 'function', function: { name } }),
  allowed: (mode, tools) => ({ type: 'allowed_tools', allowed_tools: { mode, tools } }),
};

const writeSampling = ({ sampling }: NeutralRequest, { flags, ledger }: Writing): Json => {
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty, logitBias } = sampling;
  if (!flags.takesTopK) ledger.drop(topK);
  const unsampled = {
    ...(seed && { seed: seed.value }),
    ...(logitBias && { logit_bias: logitBias.value }),
  };
  if (flags.dropSampling) {
    for (const field of [temperature, topP, topK, frequencyPenalty, presencePenalty]) ledger.drop(field);
    return unsampled;
  }
  return {
    ...unsampled,
    ...(temperature && { temperature: temperature.value }),
    ...(topP && { top_p: topP.value }),
    ...(flags.takesTopK && topK && { top_k: topK.value }),
    ...(frequencyPenalty && { frequency_penalty: frequencyPenalty.value }),
    ...(presencePenalty && { presence_penalty: presencePenalty.value }),
  };
};

const writeStop = ({ stop }: NeutralRequest): Json => {
  if (stop === null) return {};
  if (stop.value.length > STOPS_BOUND)
    throw unsupported(stop.at, `the upstream of this model takes at most ${STOPS_BOUND} of them`);
  return { stop: stop.value };
};

const writeOutput = ({ output }: NeutralRequest, { from }: Writing): Json => {
  if (output === null) return {};
  return {
    response_format:
      output.kind === 'json_object'
        ? { type: 'json_object' }
        : { type: 'json_schema', json_schema: namedSchema(output, from) },
  };
};

/** The request as a Chat Completions body. */
export const writeChatRequest = (request: NeutralRequest, writing: Writing): Json => {
  const { options, flags, ledger, from } = writing;
  if (request.store?.value === true)
    throw unsupported(request.store.at, 'the upstream of this model keeps no answers');
  // OpenAI takes labels only for answers it keeps.
  ledger.drop(request.metadata);
  ledger.drop(request.reasoning.summary);
  const maxTokens = boundTokens(request.maxTokens?.value ?? null, options.mostTokens);
  const effort = effortWord(request, writing);
  const user = userIdFor('chat', request, from);
  return {
    model: options.upstreamModel,
    messages: writeChatMessages(request, writing),
    ...(maxTokens !== null && { [flags.maxTokensField]: maxTokens }),
    ...writeTools(request),
    ...writeChoice(request, choiceForms),
    ...writeParallel(request),
    ...writeSampling(request, writing),
    ...writeStop(request),
    ...(effort !== null && { reasoning_effort: effort }),
    ...writeOutput(request, writing),
    ...(request.verbosity && { verbosity: request.verbosity.value }),
    ...(user !== null && { user }),
    ...writeShared(request),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
  };
};
