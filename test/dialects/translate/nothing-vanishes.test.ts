import t from 'tap';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import { pairs, translate, without, type Sent } from './translating.js';

const cached = { cache_control: { type: 'ephemeral' } };
const schema = { type: 'object', properties: { city: { type: 'string', minLength: 1 } } };

/** Requests with a little of everything that can be carried or left out. */
const rich: Readonly<Record<DialectName, Json>> = {
  messages: {
    model: 'm',
    max_tokens: 9_000,
    system: [{ type: 'text', text: 'Be brief.', ...cached }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.', ...cached },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'image',
            source: { type: 'url', url: 'https://x.test/a.png' },
            transformations: { crop: 1 },
          },
          {
            type: 'document',
            title: 'T',
            context: 'C',
            citations: { enabled: true },
            source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
          },
          {
            type: 'document',
            title: 'U',
            context: 'D',
            source: { type: 'text', media_type: 'text/plain', data: 'plain' },
          },
          {
            type: 'search_result',
            title: 'S',
            source: 'https://x.test/s',
            content: [{ type: 'text', text: 'found' }],
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'dark' },
          { type: 'text', text: 'I call.' },
          {
            type: 'tool_use',
            id: 'tu_1',
            name: 'look',
            input: { city: 'Bern', deep: [{ a: 1 }] },
            caller: { type: 'direct' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'tu_1',
            is_error: true,
            content: [
              { type: 'text', text: 'rain' },
              { type: 'image', source: { type: 'url', url: 'https://x.test/rain.png' } },
            ],
          },
        ],
      },
      { role: 'system', content: 'Now in French.' },
      { role: 'user', content: 'And?' },
    ],
    tools: [{ name: 'look', description: 'Looks.', input_schema: schema, strict: true, ...cached }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 5_000, display: 'summarized' },
    output_config: { effort: 'high', format: { type: 'json_schema', schema }, task_budget: { total: 1 } },
    metadata: { user_id: 'ann', other: 'x' },
    service_tier: 'auto',
    speed: 'fast',
    stream: true,
    novel: { deep: 1 },
  },
  chat: {
    model: 'm',
    messages: [
      { role: 'developer', content: 'Be brief.', name: 'boss' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'Look.', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I call.',
        refusal: 'Not that.',
        reasoning_content: 'Hm.',
        annotations: [{ type: 'url_citation' }],
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Bern"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
      { role: 'user', content: 'And?' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'look', description: 'Looks.', parameters: schema, strict: true },
      },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'look' } }] },
    },
    parallel_tool_calls: false,
    max_completion_tokens: 9_000,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    seed: 7,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    stop: ['END'],
    reasoning_effort: 'high',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'n', description: 'D.', schema, strict: false },
    },
    verbosity: 'low',
    user: 'ann',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    service_tier: 'flex',
    prediction: { type: 'content', content: 'x' },
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
    novel: 1,
  },
  responses: {
    model: 'm',
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'original' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'gAAA',
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'I call.', annotations: [{ type: 'url_citation', url: 'u' }] },
          { type: 'refusal', refusal: 'Not that.' },
        ],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'look',
        arguments: '{"city":"Bern"}',
        status: 'completed',
      },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [
          { type: 'input_text', text: 'rain' },
          { type: 'input_image', image_url: 'https://x.test/rain.png' },
        ],
      },
      { role: 'developer', content: 'Now in French.' },
      { role: 'user', content: 'And?' },
    ],
    tools: [
      {
        type: 'function',
        name: 'look',
        description: 'Looks.',
        parameters: schema,
        strict: true,
        defer_loading: true,
      },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] },
    parallel_tool_calls: false,
    max_output_tokens: 9_000,
    temperature: 0.5,
    top_p: 0.9,
    reasoning: { effort: 'high', summary: 'auto', context: 'all_turns' },
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', name: 'n', description: 'D.', schema, strict: false },
    },
    safety_identifier: 'ann',
    metadata: { a: 'b' },
    include: ['reasoning.encrypted_content'],
    truncation: 'auto',
    prompt_cache_key: 'k',
    service_tier: 'flex',
    client_metadata: { a: 'b' },
    stream: true,
  },
};

/** Fields of the rich requests that a format cannot take at all. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'messages responses': ['stop_sequences'],
  'chat responses': ['stop'],
};

/** Spelling: nothing is lost without it. */
const spelling: readonly RegExp[] = [
  /^model$/,
  /^stream_options\.include_usage$/,
  /^input\.\d+\.(id|status)$/,
  /(^|\.)type$/,
  // It goes with the reasoning it signs, which is named.
  /\.signature$/,
  /^messages\.\d+\.content\.\d+\.source\.media_type$/,
  // A form that only says that its schema need not be kept to the letter.
  /^(text\.format|response_format\.json_schema)\.strict$/,
];

type Path = readonly (string | number)[];

const leavesOf = (value: unknown, path: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        leavesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
      )
    : [path];

/** The same body with the one leaf taken out. */
const lacking = (value: unknown, [key, ...rest]: Path): unknown => {
  const copy: unknown = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Json) };
  const holder = copy as Record<string | number, unknown>;
  if (rest.length > 0) holder[key!] = lacking(holder[key!], rest);
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key!);
  return copy;
};

const outcome = (run: () => Sent): string => {
  try {
    const { body, dropped } = run();
    return JSON.stringify([body, dropped]);
  } catch (error) {
    return `refused: ${String((error as { param?: unknown }).param)}`;
  }
};

const isNamed = (path: Path, dropped: readonly string[]): boolean => {
  const keys = path.map((key) => (typeof key === 'number' ? '*' : key));
  return keys.some((_, index) => dropped.includes(keys.slice(0, index + 1).join('.')));
};

for (const [from, to] of pairs)
  t.test(`D42 nothing of a rich request vanishes silently from ${from} to ${to}`, async (t) => {
    const cannot = refused[`${from} ${to}`] ?? [];
    for (const key of cannot)
      t.equal(
        outcome(() => translate(from, to, rich[from])),
        `refused: ${key}`,
      );
    const body = without(rich[from], ...cannot);
    const sent = translate(from, to, body);
    const whole = outcome(() => sent);
    const silent = leavesOf(body).filter(
      (path) =>
        !spelling.some((pattern) => pattern.test(path.join('.'))) &&
        !isNamed(path, sent.dropped) &&
        outcome(() => translate(from, to, lacking(body, path) as Json)) === whole,
    );
    t.same(
      silent.map((path) => path.join('.')),
      [],
    );
  });
