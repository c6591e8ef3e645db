import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { runMatrix } from './run-matrix.mjs';

const ENDINGS = {
  end_turn: 'stop',
  stop: 'stop',
  completed: 'stop',
  max_tokens: 'length',
  length: 'length',
  max_output_tokens: 'length',
  tool_use: 'tools',
  tool_calls: 'tools',
  refusal: 'refused',
  content_filter: 'refused',
};

const endingOf = ({ response_metadata: told, additional_kwargs: more, tool_calls: calls }) => {
  if (more.refusal) return 'refused';
  const word =
    told.stop_reason ??
    more.stop_reason ??
    told.finish_reason ??
    told.incomplete_details?.reason ??
    told.status;
  const ending = ENDINGS[word] ?? `unknown: ${word}`;
  return ending === 'stop' && calls.length > 0 ? 'tools' : ending;
};

const reasoningOf = ({ contentBlocks }) =>
  contentBlocks
    .filter(({ type }) => type === 'reasoning')
    .map(({ reasoning }) => reasoning)
    .join('');

const turnOf = (message, { format }) => {
  const usage = message.usage_metadata;
  const heard = {
    text: message.text,
    reasoning: format === 'chat' ? null : reasoningOf(message),
    refusal: null,
    calls: message.tool_calls.map(({ id, name, args }) => ({ id, name, input: args })),
    ending: endingOf(message),
    usage: usage && {
      input: usage.input_tokens,
      cached: usage.input_token_details?.cache_read ?? 0,
      output: usage.output_tokens,
    },
    credits: undefined,
  };
  const { content, tool_calls, usage_metadata } = message;
  return { heard, final: { content, tool_calls, usage_metadata, message }, events: [] };
};

const modes = {
  whole: async (model, messages, caller) => turnOf(await model.invoke(messages), caller),
  stream: async (model, messages, caller) => {
    let whole;
    for await (const chunk of await model.stream(messages)) whole = whole ? whole.concat(chunk) : chunk;
    return turnOf(whole, caller);
  },
};

const reply = (messages, { heard, final }, next) => [
  ...messages,
  new AIMessage(final.message),
  ...('prompt' in next
    ? [new HumanMessage(next.prompt)]
    : heard.calls.map((call) => new ToolMessage({ tool_call_id: call.id, content: next.results(call) }))),
];

const openMessages = (ask) => {
  const image = ask.png
    ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${ask.png}` } }]
    : [];
  return [
    ...(ask.system ? [new SystemMessage(ask.system)] : []),
    new HumanMessage({ content: [{ type: 'text', text: ask.prompt }, ...image] }),
  ];
};

/** LangChain with one of its chat classes. */
const langChainCaller = ({ model, ...rest }) => {
  const caller = {
    ...rest,
    modes: Object.keys(modes),
    creditless: Object.keys(modes),
    begin: (id, ask) => talk(id, ask, openMessages(ask)),
  };
  const talk = (id, ask, messages) => ({
    send: (mode) => {
      const bare = model(id, ask);
      const tools = ask.tools?.map((tool) => ({ type: 'function', function: tool }));
      return modes[mode](tools ? bare.bindTools(tools) : bare, messages, caller);
    },
    add: (turn, next) => talk(id, ask, reply(messages, turn, next)),
  });
  return caller;
};

runMatrix((url, apiKey) =>
  langChainCaller({
    name: '@langchain/anthropic',
    format: 'messages',
    family: 'claude-sonnet-4-6-',
    keepsFirstUsage: ['stream'],
    model: (id, ask) =>
      new ChatAnthropic({
        model: id,
        apiKey,
        anthropicApiUrl: url,
        maxRetries: 0,
        maxTokens: ask.maxTokens ?? 4_000,
        ...(ask.effort && { thinking: { type: 'adaptive', display: 'summarized' } }),
        ...((ask.effort || ask.schema) && {
          outputConfig: {
            ...(ask.effort && { effort: ask.effort }),
            ...(ask.schema && { format: { type: 'json_schema', schema: ask.schema } }),
          },
        }),
      }),
  }),
);

for (const useResponsesApi of [false, true])
  runMatrix((url, apiKey) =>
    langChainCaller({
      name: `@langchain/openai (${useResponsesApi ? 'responses' : 'chat'})`,
      format: useResponsesApi ? 'responses' : 'chat',
      family: 'gpt-5.4-',
      hidesRefusals: !useResponsesApi,
      model: (id, ask) => {
        const model = new ChatOpenAI({
          model: id,
          apiKey,
          configuration: { baseURL: `${url}/v1` },
          useResponsesApi,
          maxRetries: 0,
          ...(ask.maxTokens && { maxTokens: ask.maxTokens }),
          ...(useResponsesApi && { zdrEnabled: true }),
          ...(ask.effort && {
            reasoning: { effort: ask.effort, ...(useResponsesApi && { summary: 'auto' }) },
          }),
        });
        if (ask.schema) {
          const json_schema = { name: 'city', strict: true, schema: ask.schema };
          return model.withConfig({ response_format: { type: 'json_schema', json_schema } });
        }
        return ask.effort && useResponsesApi
          ? model.withConfig({ include: ['reasoning.encrypted_content'] })
          : model;
      },
    }),
  );
