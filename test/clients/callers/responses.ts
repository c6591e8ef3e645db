import type OpenAI from 'openai';
import type { Ask, Caller, Heard, Next, Talk, Turn } from '../scenarios.js';

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;
type Response = OpenAI.Responses.Response;
type Event = OpenAI.Responses.ResponseStreamEvent;
type Credited = { readonly estimated_credits_used?: number };

const paramsOf = (model: string, ask: Ask): Params => ({
  model,
  store: false,
  ...(ask.system !== undefined && { instructions: ask.system }),
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: ask.prompt },
        ...(ask.png === undefined
          ? []
          : [
              {
                type: 'input_image' as const,
                detail: 'auto' as const,
                image_url: `data:image/png;base64,${ask.png}`,
              },
            ]),
      ],
    },
  ],
  ...(ask.maxTokens !== undefined && { max_output_tokens: ask.maxTokens }),
  ...(ask.tools && {
    tools: ask.tools.map(({ name, description, parameters }) => ({
      type: 'function' as const,
      name,
      description,
      parameters,
      strict: true,
    })),
  }),
  ...(ask.effort && {
    reasoning: { effort: ask.effort, summary: 'auto' },
    include: ['reasoning.encrypted_content'],
  }),
  ...(ask.schema && {
    text: { format: { type: 'json_schema', name: 'city', strict: true, schema: ask.schema } },
  }),
});

const endingOf = (
  { status, incomplete_details }: Response,
  refusal: string,
  calls: number,
): Heard['ending'] => {
  if (refusal !== '' || incomplete_details?.reason === 'content_filter') return 'refused';
  if (status === 'incomplete' && incomplete_details?.reason === 'max_output_tokens') return 'length';
  if (status !== 'completed') return `unknown: ${String(status)}`;
  return calls > 0 ? 'tools' : 'stop';
};

const hear = (response: Response): Heard => {
  const { output, usage } = response;
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const refusal = parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
  const calls = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) as unknown }]
      : [],
  );
  return {
    text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
      .map(({ text }) => text)
      .join(''),
    refusal,
    calls,
    ending: endingOf(response, refusal, calls.length),
    usage: usage
      ? {
          input: usage.input_tokens,
          cached: usage.input_tokens_details.cached_tokens,
          output: usage.output_tokens,
        }
      : null,
    credits: (response as Credited).estimated_credits_used,
  };
};

/** As an application without the helper does: the last event holds the whole response. */
const lastResponse = (events: readonly Event[]): Response => {
  const last = events.at(-1);
  if (last?.type !== 'response.completed' && last?.type !== 'response.incomplete')
    throw new Error(`the stream ended with ${String(last?.type)}`);
  return last.response;
};

const reply = (params: Params, { final, heard }: Turn, next: Next): Params => ({
  ...params,
  input: [
    ...(params.input as OpenAI.Responses.ResponseInputItem[]),
    ...((final as Response).output as OpenAI.Responses.ResponseInputItem[]),
    ...('prompt' in next
      ? [{ role: 'user' as const, content: next.prompt }]
      : heard.calls.map((call) => ({
          type: 'function_call_output' as const,
          call_id: call.id,
          output: next.results(call),
        }))),
  ],
});

const turnOf = (final: Response, events: readonly Event[] = []): Turn => ({
  heard: hear(final),
  final,
  events,
});

/** OpenAI's SDK, responses. */
export const responsesCaller = (client: OpenAI): Caller => {
  const modes: Readonly<Record<string, (params: Params) => Promise<Turn>>> = {
    whole: async (params) => turnOf(await client.responses.create(params)),
    raw: async (params) => {
      const events: Event[] = [];
      for await (const event of await client.responses.create({ ...params, stream: true }))
        events.push(event);
      return turnOf(lastResponse(events), events);
    },
    helper: async (params) => turnOf(await client.responses.stream(params).finalResponse()),
  };
  const talk = (params: Params): Talk => ({
    send: (mode) => modes[mode]!(params),
    add: (turn, next) => talk(reply(params, turn, next)),
  });
  return {
    name: 'OpenAI SDK (responses)',
    format: 'responses',
    modes: Object.keys(modes),
    creditless: [],
    begin: (model, ask) => talk(paramsOf(model, ask)),
  };
};
