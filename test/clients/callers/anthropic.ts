import type Anthropic from '@anthropic-ai/sdk';
import type { Ask, Caller, Heard, Next, Talk, Turn } from '../scenarios.js';

type Params = Anthropic.MessageCreateParamsNonStreaming;
type Message = Anthropic.Message;
type Event = Anthropic.MessageStreamEvent;
type Credited = { readonly estimated_credits_used?: number };

const paramsOf = (model: string, ask: Ask): Params => ({
  model,
  max_tokens: ask.maxTokens ?? 4_000,
  ...(ask.system !== undefined && { system: ask.system }),
  messages: [
    {
      role: 'user',
      content: [
        ...(ask.png === undefined
          ? []
          : [
              {
                type: 'image' as const,
                source: { type: 'base64' as const, media_type: 'image/png' as const, data: ask.png },
              },
            ]),
        { type: 'text', text: ask.prompt },
      ],
    },
  ],
  ...(ask.tools && {
    tools: ask.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
  }),
  ...(ask.effort && { thinking: { type: 'adaptive', display: 'summarized' } }),
  ...((ask.effort ?? ask.schema) && {
    output_config: {
      ...(ask.effort && { effort: ask.effort }),
      ...(ask.schema && { format: { type: 'json_schema', schema: { ...ask.schema } } }),
    },
  }),
});

const ENDINGS: Readonly<Record<string, Heard['ending']>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'refused',
};

const hear = (message: Message): Heard => {
  const { content, usage, stop_details } = message;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    refusal: stop_details?.explanation ?? '',
    calls: content.filter((block) => block.type === 'tool_use'),
    ending: ENDINGS[String(message.stop_reason)] ?? `unknown: ${String(message.stop_reason)}`,
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      cached,
      output: usage.output_tokens,
    },
    credits: (message as Credited).estimated_credits_used,
  };
};

/** As an application without the helper puts the events together. */
const assemble = (events: readonly Event[]): Message => {
  let message: Message | undefined;
  const pieces = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'message_start') message = structuredClone(event.message);
    else if (event.type === 'content_block_start') message!.content[event.index] = { ...event.content_block };
    else if (event.type === 'content_block_delta') {
      const block = message!.content[event.index] as unknown as {
        text: string;
        thinking: string;
        signature: string;
      };
      const { delta } = event;
      if (delta.type === 'text_delta') block.text += delta.text;
      else if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
      else if (delta.type === 'signature_delta') block.signature = delta.signature;
      else if (delta.type === 'input_json_delta')
        pieces.set(event.index, (pieces.get(event.index) ?? '') + delta.partial_json);
    } else if (event.type === 'message_delta') {
      Object.assign(message!, event.delta, {
        usage: { ...message!.usage, ...event.usage },
        ...('estimated_credits_used' in event && { estimated_credits_used: event.estimated_credits_used }),
      });
    }
  }
  for (const [index, text] of pieces)
    (message!.content[index] as { input: unknown }).input = JSON.parse(text === '' ? '{}' : text);
  return message!;
};

const reply = (params: Params, { final, heard }: Turn, next: Next): Params => ({
  ...params,
  messages: [
    ...params.messages,
    { role: 'assistant', content: (final as Message).content },
    {
      role: 'user',
      content:
        'prompt' in next
          ? next.prompt
          : heard.calls.map((call) => ({
              type: 'tool_result',
              tool_use_id: call.id,
              content: next.results(call),
            })),
    },
  ],
});

const turnOf = (final: Message, events: readonly Event[] = []): Turn => ({
  heard: hear(final),
  final,
  events,
});

/** Anthropic's SDK. */
export const anthropicCaller = (client: Anthropic): Caller => {
  const modes: Readonly<Record<string, (params: Params) => Promise<Turn>>> = {
    whole: async (params) => turnOf(await client.messages.create(params)),
    raw: async (params) => {
      const events: Event[] = [];
      for await (const event of await client.messages.create({ ...params, stream: true })) events.push(event);
      return turnOf(assemble(events), events);
    },
    helper: async (params) => turnOf(await client.messages.stream(params).finalMessage()),
  };
  const talk = (params: Params): Talk => ({
    send: (mode) => modes[mode]!(params),
    add: (turn, next) => talk(reply(params, turn, next)),
  });
  return {
    name: 'Anthropic SDK',
    format: 'messages',
    modes: Object.keys(modes),
    creditless: ['helper'],
    begin: (model, ask) => talk(paramsOf(model, ask)),
  };
};
