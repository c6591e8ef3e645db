import {
  BadRequest,
  checkFields,
  isObject,
  listIn,
  parseInput,
  readDataUrl,
  splitText,
  textIn,
  type Answer,
  type Asked,
  type AskedCall,
  type Json,
} from './model.js';

const FIELDS =
  'model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens reasoning_effort response_format temperature top_p stop user safety_identifier seed n metadata store prompt_cache_key frequency_penalty presence_penalty service_tier verbosity'.split(
    ' ',
  );
const TURNS: Readonly<Record<string, readonly string[]>> = {
  system: ['content'],
  developer: ['content'],
  user: ['content', 'name'],
  // What an answer holds is taken back, the notes of the vendor's own SDK included.
  assistant: ['content', 'tool_calls', 'refusal', 'annotations', 'reasoning_content', 'parsed'],
  tool: ['content', 'tool_call_id'],
};

const readPart = (part: unknown): { readonly text: string; readonly images: Asked['images'] } => {
  const { type, ...rest } = isObject(part) ? part : {};
  if (type === 'text') return { text: textIn(checkFields(rest, 'text', ['text']), 'text'), images: [] };
  if (type !== 'image_url') throw new BadRequest(`no part of type ${String(type)}`);
  const { image_url } = checkFields(rest, 'image_url', ['image_url']);
  const url = textIn(checkFields(image_url, 'image_url', ['url', 'detail']), 'url');
  return { text: '', images: [readDataUrl(url)] };
};

const readContent = (content: unknown) => {
  if (content === null || content === undefined) return { text: '', images: [] };
  if (typeof content === 'string') return { text: content, images: [] };
  if (!Array.isArray(content)) throw new BadRequest('content: must be text or parts');
  const parts = content.map(readPart);
  return {
    text: parts.map(({ text }) => text).join(''),
    images: parts.flatMap(({ images }) => images),
  };
};

const readCall = (call: unknown): AskedCall => {
  const { id, type, function: called } = checkFields(call, 'tool_calls', ['id', 'type', 'function', 'index']);
  if (type !== 'function' || typeof id !== 'string') throw new BadRequest('tool_calls: id and type needed');
  const { name, arguments: input } = checkFields(called, 'function', [
    'name',
    'arguments',
    'parsed_arguments',
  ]);
  return { id, name: String(name), input: parseInput(String(input)) };
};

/** Every call is answered by the messages right behind it. */
const checkPairs = (turns: readonly Json[], calls: readonly (readonly AskedCall[])[]): void => {
  calls.forEach((made, index) => {
    const behind = turns.slice(index + 1, index + 1 + made.length);
    for (const { id } of made)
      if (!behind.some((turn) => turn.role === 'tool' && turn.tool_call_id === id))
        throw new BadRequest(`messages.${index}: no tool message answers ${id}`);
  });
};

export const readChat = (given: unknown): Asked => {
  const body = checkFields(given, 'body', FIELDS);
  const turns = listIn(body, 'messages').map((turn) => {
    const role = isObject(turn) ? textIn(turn, 'role') : '';
    const known = TURNS[role];
    if (!known) throw new BadRequest(`messages: no role ${role}`);
    return checkFields(turn, 'messages', ['role', ...known]);
  });
  const calls = turns.map((turn) => listIn(turn, 'tool_calls').map(readCall));
  checkPairs(turns, calls);
  const options = checkFields(body.stream_options ?? {}, 'stream_options', [
    'include_usage',
    'include_obfuscation',
  ]);
  const format = checkFields(body.response_format ?? {}, 'response_format', ['type', 'json_schema']);
  const shape = checkFields(format.json_schema ?? {}, 'json_schema', [
    'name',
    'schema',
    'strict',
    'description',
  ]);
  if (format.type === 'json_schema') textIn(shape, 'name');
  const last = turns.findLastIndex(({ role }) => role !== 'tool');
  const users = turns.filter(({ role }) => role === 'user').map(({ content }) => readContent(content));
  return {
    model: textIn(body, 'model'),
    stream: body.stream === true,
    includeUsage: options.include_usage === true,
    system: turns
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => readContent(content).text)
      .join('\n'),
    prompt: users.at(-1)?.text ?? '',
    images: users.flatMap(({ images }) => images),
    tools: listIn(body, 'tools').map((each) => {
      const tool = checkFields(each, 'tools', ['type', 'function']);
      const inner = checkFields(tool.function, 'function', ['name', 'description', 'parameters', 'strict']);
      return { name: textIn(inner, 'name'), schema: inner.parameters as Json };
    }),
    calls: calls.flat(),
    results: turns
      .slice(last + 1)
      .map((turn) => ({ callId: textIn(turn, 'tool_call_id'), text: readContent(turn.content).text })),
    thoughts: 0,
    schema: (shape.schema as Json | undefined) ?? null,
    maxTokens: ((body.max_completion_tokens ?? body.max_tokens) as number | null | undefined) ?? null,
    effort: typeof body.reasoning_effort === 'string' ? body.reasoning_effort : null,
  };
};

const REASONS = { stop: 'stop', length: 'length', tools: 'tool_calls', refusal: 'stop' } as const;

const usageOf = ({ usage }: Answer): Json => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const writeCall = ({ id, name, input }: AskedCall): Json => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

const orNull = (text: string): string | null => (text === '' ? null : text);

export const writeChat = ({ model }: Asked, answer: Answer): Json => ({
  id: 'chatcmpl-scripted',
  object: 'chat.completion',
  created: 1_760_000_000,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: orNull(answer.text),
        refusal: orNull(answer.refusal),
        annotations: [],
        ...(answer.thinking !== '' && { reasoning_content: answer.thinking }),
        ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(writeCall) }),
      },
      logprobs: null,
      finish_reason: REASONS[answer.reason],
    },
  ],
  usage: usageOf(answer),
  service_tier: 'default',
  system_fingerprint: 'fp_scripted',
});

const callDeltas = (call: AskedCall, index: number): readonly Json[] => {
  const { id, type, function: called } = writeCall(call);
  const { name, arguments: input } = called as { name: string; arguments: string };
  return [
    { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
    ...(input.match(/.{1,9}/gsu) ?? []).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ];
};

/** The vendor's stream, obfuscation included; calls that run in parallel come one behind the other, as they do there. */
export const streamChat = ({ model, includeUsage }: Asked, answer: Answer): string => {
  const frame = (choices: readonly Json[], more: Json = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 1_760_000_000, model, service_tier: 'default', system_fingerprint: 'fp_scripted', choices, ...(includeUsage && { usage: null }), ...more })}\n\n`;
  const step = (delta: Json, finish_reason: string | null = null): string =>
    frame([{ index: 0, delta, logprobs: null, finish_reason }], { obfuscation: 'x8Yz' });
  return [
    step({ role: 'assistant', content: answer.calls.length > 0 ? null : '', refusal: null }),
    ...splitText(answer.thinking).map((reasoning_content) => step({ reasoning_content })),
    ...splitText(answer.text).map((content) => step({ content })),
    ...splitText(answer.refusal).map((refusal) => step({ refusal })),
    ...answer.calls.flatMap(callDeltas).map((delta) => step(delta)),
    step({}, REASONS[answer.reason]),
    ...(includeUsage ? [frame([], { usage: usageOf(answer) })] : []),
    'data: [DONE]\n\n',
  ].join('');
};
