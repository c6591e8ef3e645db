import type OpenAI from 'openai';
import type { Ask, Caller, Heard, Next, Talk, Turn } from '../scenarios.js';

type Params = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;
type Completion = OpenAI.ChatCompletion;
type Chunk = OpenAI.ChatCompletionChunk;
type Reasoned = { readonly reasoning_content?: string };
type Credited = { readonly estimated_credits_used?: number };

const paramsOf = (model: string, ask: Ask): Params => ({
  model,
  messages: [
    ...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]),
    {
      role: 'user',
      content:
        ask.png === undefined
          ? ask.prompt
          : [
              { type: 'text', text: ask.prompt },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${ask.png}` } },
            ],
    },
  ],
  ...(ask.maxTokens !== undefined && { max_completion_tokens: ask.maxTokens }),
  ...(ask.tools && {
    tools: ask.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  }),
  ...(ask.effort && { reasoning_effort: ask.effort }),
  ...(ask.schema && {
    response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: ask.schema } },
  }),
});

const ENDINGS: Readonly<Record<string, Heard['ending']>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'refused',
};

const hear = (completion: Completion): Heard => {
  const { message, finish_reason } = completion.choices[0]!;
  const { usage } = completion;
  return {
    text: message.content ?? '',
    reasoning: (message as Reasoned).reasoning_content ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
        : [],
    ),
    ending: message.refusal ? 'refused' : (ENDINGS[finish_reason] ?? `unknown: ${finish_reason}`),
    usage: usage
      ? {
          input: usage.prompt_tokens,
          cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
          output: usage.completion_tokens,
        }
      : null,
    credits: (completion as Credited).estimated_credits_used,
  };
};

interface OpenCall {
  id: string;
  readonly type: 'function';
  readonly function: { name: string; arguments: string };
}

/** As an application without the helper puts the chunks together. */
const assemble = (chunks: readonly Chunk[]): Completion => {
  const message = { role: 'assistant', content: '', refusal: '', reasoning_content: '' };
  const calls: OpenCall[] = [];
  let finish: string | null = null;
  for (const { choices } of chunks)
    for (const { delta, finish_reason } of choices) {
      message.content += delta.content ?? '';
      message.refusal += delta.refusal ?? '';
      message.reasoning_content += (delta as Reasoned).reasoning_content ?? '';
      finish = finish_reason ?? finish;
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        const call = (calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
        call.id ||= id ?? '';
        call.function.name += called?.name ?? '';
        call.function.arguments += called?.arguments ?? '';
      }
    }
  const credited = chunks.find((chunk) => 'estimated_credits_used' in chunk) as Credited | undefined;
  return {
    choices: [
      { message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) }, finish_reason: finish },
    ],
    usage: chunks.findLast(({ usage }) => usage)?.usage,
    estimated_credits_used: credited?.estimated_credits_used,
  } as unknown as Completion;
};

const reply = (params: Params, { final, heard }: Turn, next: Next): Params => ({
  ...params,
  messages: [
    ...params.messages,
    (final as Completion).choices[0]!.message,
    ...('prompt' in next
      ? [{ role: 'user' as const, content: next.prompt }]
      : heard.calls.map((call) => ({
          role: 'tool' as const,
          tool_call_id: call.id,
          content: next.results(call),
        }))),
  ],
});

const turnOf = (final: Completion, events: readonly Chunk[] = []): Turn => ({
  heard: hear(final),
  final,
  events,
});

/** OpenAI's SDK, chat completions. */
export const chatCaller = (client: OpenAI): Caller => {
  const { completions } = client.chat;
  const raw = async (
    params: Params,
    options: { stream_options?: { include_usage: true } },
  ): Promise<Turn> => {
    const chunks: Chunk[] = [];
    for await (const chunk of await completions.create({ ...params, ...options, stream: true }))
      chunks.push(chunk);
    return turnOf(assemble(chunks), chunks);
  };
  const modes: Readonly<Record<string, (params: Params) => Promise<Turn>>> = {
    whole: async (params) => turnOf(await completions.create(params)),
    raw: (params) => raw(params, { stream_options: { include_usage: true } }),
    'raw, no usage asked': (params) => raw(params, {}),
    helper: async (params) => {
      const options = { stream_options: { include_usage: true } };
      const { heard, ...turn } = turnOf(
        await completions.stream({ ...params, ...options }).finalChatCompletion(),
      );
      // It keeps only the last piece of what its format does not know.
      return { ...turn, heard: { ...heard, reasoning: null } };
    },
  };
  const talk = (params: Params): Talk => ({
    send: (mode) => modes[mode]!(params),
    add: (turn, next) => talk(reply(params, turn, next)),
  });
  return {
    name: 'OpenAI SDK (chat)',
    format: 'chat',
    modes: Object.keys(modes),
    creditless: [],
    begin: (model, ask) => talk(paramsOf(model, ask)),
  };
};
