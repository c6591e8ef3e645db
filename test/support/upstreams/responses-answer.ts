import { PROOF, splitText, type Answer, type Asked, type Json } from './model.js';
import type { ResponsesWishes } from './responses.js';

const statusOf = ({ reason }: Answer): 'completed' | 'incomplete' =>
  reason === 'length' ? 'incomplete' : 'completed';

const usageOf = ({ usage }: Answer): Json => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

const reasoningItem = (answer: Answer, { summarizes, encrypts }: ResponsesWishes): Json => ({
  id: 'rs_scripted',
  type: 'reasoning',
  summary: summarizes ? [{ type: 'summary_text', text: answer.thinking }] : [],
  ...(encrypts && { encrypted_content: PROOF }),
});

const partOf = ({ text, refusal }: Answer): Json =>
  refusal === ''
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal };

const itemsOf = (answer: Answer, wishes: ResponsesWishes): readonly Json[] => [
  ...(answer.thinking === '' ? [] : [reasoningItem(answer, wishes)]),
  ...(answer.text === '' && answer.refusal === ''
    ? []
    : [
        {
          id: 'msg_scripted',
          type: 'message',
          status: statusOf(answer),
          role: 'assistant',
          content: [partOf(answer)],
        },
      ]),
  ...answer.calls.map(({ id, name, input }, index) => ({
    id: `fc_scripted_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: JSON.stringify(input),
  })),
];

const renderResponse = ({ model }: Asked, status: string, more: Json): Json => ({
  id: 'resp_scripted',
  object: 'response',
  created_at: 1_760_000_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  metadata: {},
  ...more,
});

export const writeResponses = (asked: Asked, answer: Answer, wishes: ResponsesWishes): Json =>
  renderResponse(asked, statusOf(answer), {
    output: itemsOf(answer, wishes),
    ...(answer.reason === 'length' && { incomplete_details: { reason: 'max_output_tokens' } }),
    usage: usageOf(answer),
  });

/** The events between an item's beginning and its end. */
const fillItem = (item: Json, at: Json, answer: Answer): readonly (readonly [string, Json])[] => {
  if (item.type === 'function_call')
    return [
      ...(String(item.arguments).match(/.{1,9}/gsu) ?? []).map(
        (delta) => ['function_call_arguments.delta', { ...at, delta }] as const,
      ),
      ['function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name }],
    ];
  if (item.type === 'reasoning') {
    const [summary] = item.summary as readonly Json[];
    if (!summary) return [];
    const place = { ...at, summary_index: 0 };
    return [
      ['reasoning_summary_part.added', { ...place, part: { ...summary, text: '' } }],
      ...splitText(answer.thinking).map(
        (delta) => ['reasoning_summary_text.delta', { ...place, delta, obfuscation: 'q1' }] as const,
      ),
      ['reasoning_summary_text.done', { ...place, text: answer.thinking }],
      ['reasoning_summary_part.done', { ...place, part: summary }],
    ];
  }
  const place = { ...at, content_index: 0 };
  const refused = answer.refusal !== '';
  const [name, key, text] = refused
    ? (['refusal', 'refusal', answer.refusal] as const)
    : (['output_text', 'text', answer.text] as const);
  const more = refused ? {} : { logprobs: [] };
  return [
    ['content_part.added', { ...place, part: { ...partOf(answer), [key]: '' } }],
    ...splitText(text).map(
      (delta) => [`${name}.delta`, { ...place, delta, ...more, obfuscation: 'q1' }] as const,
    ),
    [`${name}.done`, { ...place, [key]: text, ...more }],
    ['content_part.done', { ...place, part: partOf(answer) }],
  ];
};

const beginningOf = (item: Json): Json => {
  if (item.type === 'reasoning') return { ...item, summary: [] };
  return {
    ...item,
    status: 'in_progress',
    ...(item.type === 'message' ? { content: [] } : { arguments: '' }),
  };
};

/** The vendor's stream, obfuscation included. */
export const streamResponses = (asked: Asked, answer: Answer, wishes: ResponsesWishes): string => {
  const whole = writeResponses(asked, answer, wishes);
  const started = renderResponse(asked, 'in_progress', {});
  const events: (readonly [string, Json])[] = [
    ['created', { response: started }],
    ['in_progress', { response: started }],
    ...itemsOf(answer, wishes).flatMap((item, output_index) => [
      ['output_item.added', { output_index, item: beginningOf(item) }] as const,
      ...fillItem(item, { item_id: item.id, output_index }, answer),
      ['output_item.done', { output_index, item }] as const,
    ]),
    [statusOf(answer), { response: whole }],
  ];
  return events
    .map(([name, data], sequence_number) => {
      const type = `response.${name}`;
      return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`;
    })
    .join('');
};
