import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { runMatrix } from './run-matrix.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;

const ENDINGS = { stop: 'stop', length: 'length', 'tool-calls': 'tools', 'content-filter': 'refused' };

const settingsOf = (ask, messages, model, optionsOf) => ({
  model,
  maxRetries: 0,
  messages,
  ...(ask.system && { instructions: ask.system }),
  ...(ask.maxTokens && { maxOutputTokens: ask.maxTokens }),
  ...(ask.tools && {
    tools: Object.fromEntries(
      ask.tools.map(({ name, description, parameters }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters) }),
      ]),
    ),
  }),
  ...(ask.schema && { output: Output.object({ name: 'city', schema: jsonSchema(ask.schema) }) }),
  ...(ask.effort && { providerOptions: optionsOf(ask.effort) }),
});

const turnOf = async (result, showsReasoning) => {
  const [text, reasoning, calls, ending, usage, { messages }] = await Promise.all([
    result.text,
    result.reasoningText,
    result.toolCalls,
    result.finishReason,
    result.usage,
    result.response,
  ]);
  const final = { text, reasoning, calls, ending, usage };
  const heard = {
    text,
    reasoning: showsReasoning ? (reasoning ?? '') : null,
    refusal: null,
    calls: calls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    ending: ENDINGS[ending] ?? `unknown: ${ending}`,
    usage: {
      input: usage.inputTokens,
      cached: usage.inputTokenDetails.cacheReadTokens,
      output: usage.outputTokens,
    },
    credits: usage.raw?.estimated_credits_used,
  };
  return { heard, final: { ...final, messages }, events: [] };
};

const modes = {
  whole: async (settings, showsReasoning) => turnOf(await generateText(settings), showsReasoning),
  stream: async (settings, showsReasoning) => {
    let failure;
    const result = streamText({ ...settings, onError: ({ error }) => (failure ??= error) });
    await result.consumeStream();
    if (failure) throw failure;
    return turnOf(result, showsReasoning);
  },
};

const reply = (messages, { heard, final }, next) => [
  ...messages,
  ...final.messages,
  'prompt' in next
    ? { role: 'user', content: next.prompt }
    : {
        role: 'tool',
        content: heard.calls.map((call) => ({
          type: 'tool-result',
          toolCallId: call.id,
          toolName: call.name,
          output: { type: 'text', value: next.results(call) },
        })),
      },
];

/** The AI SDK with one of its providers. */
const aiCaller = ({ name, format, family, creditless, showsReasoning = true, model, optionsOf }) => {
  const talk = (id, ask, messages) => ({
    send: (mode) => modes[mode](settingsOf(ask, messages, model(id), optionsOf), showsReasoning),
    add: (turn, next) => talk(id, ask, reply(messages, turn, next)),
  });
  const begin = (id, ask) => {
    const image = ask.png ? [{ type: 'image', image: ask.png, mediaType: 'image/png' }] : [];
    return talk(id, ask, [{ role: 'user', content: [{ type: 'text', text: ask.prompt }, ...image] }]);
  };
  return { name, format, family, modes: Object.keys(modes), creditless, begin };
};

runMatrix((url, apiKey) =>
  aiCaller({
    name: '@ai-sdk/anthropic',
    format: 'messages',
    family: 'claude-sonnet-4-6-',
    creditless: ['whole'],
    model: createAnthropic({ baseURL: `${url}/v1`, apiKey }),
    optionsOf: (effort) => ({ anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort } }),
  }),
);

runMatrix((url, apiKey) =>
  aiCaller({
    name: '@ai-sdk/openai (chat)',
    format: 'chat',
    family: 'gpt-5.4-',
    creditless: ['whole', 'stream'],
    showsReasoning: false,
    model: createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat,
    optionsOf: (reasoningEffort) => ({ openai: { reasoningEffort } }),
  }),
);

runMatrix((url, apiKey) =>
  aiCaller({
    name: '@ai-sdk/openai (responses)',
    format: 'responses',
    family: 'gpt-5.4-',
    creditless: ['whole'],
    model: createOpenAI({ baseURL: `${url}/v1`, apiKey }),
    optionsOf: (reasoningEffort) => ({ openai: { reasoningEffort, reasoningSummary: 'auto', store: false } }),
  }),
);

runMatrix((url, apiKey) =>
  aiCaller({
    name: '@ai-sdk/openai-compatible',
    format: 'chat',
    creditless: ['whole'],
    model: createOpenAICompatible({
      name: 'sluice',
      baseURL: `${url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    }),
    optionsOf: (reasoningEffort) => ({ sluice: { reasoningEffort } }),
  }),
);
