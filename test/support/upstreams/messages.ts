import {
  BadRequest,
  checkFields,
  isObject,
  listIn,
  PROOF,
  splitText,
  textIn,
  type Answer,
  type Asked,
  type Json,
} from './model.js';

const FIELDS =
  'model max_tokens messages system stream tools tool_choice thinking output_config metadata stop_sequences temperature top_p top_k service_tier'.split(
    ' ',
  );
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'cache_control', 'citations'],
  image: ['source', 'cache_control'],
  tool_use: ['id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'cache_control'],
  thinking: ['thinking', 'signature'],
};

const blocksOf = (content: unknown, at: string): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content) || content.length === 0) throw new BadRequest(`${at}: must hold blocks`);
  return content.map((block: unknown) => {
    const type = isObject(block) ? textIn(block, 'type') : '';
    const known = BLOCKS[type];
    if (!known) throw new BadRequest(`${at}: no block of type ${type}`);
    const checked = checkFields(block, at, ['type', ...known]);
    if (type === 'text' && checked.text === '') throw new BadRequest(`${at}: text must not be empty`);
    return checked;
  });
};

const joinText = (blocks: readonly Json[]): string =>
  blocks
    .filter(({ type }) => type === 'text')
    .map((block) => textIn(block, 'text'))
    .join('\n');

const readImage = (block: Json): Asked['images'][number] => {
  const source = checkFields(block.source, 'source', ['type', 'media_type', 'data']);
  return { mediaType: textIn(source, 'media_type'), bytes: Buffer.from(textIn(source, 'data'), 'base64') };
};

/** Each call is answered in the very next turn, before any text: the vendor insists. */
const checkPairs = (turns: readonly { readonly role: unknown; readonly blocks: readonly Json[] }[]): void => {
  turns.forEach(({ blocks }, index) => {
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const next = turns[index + 1]?.blocks.slice(0, calls.length) ?? [];
    for (const id of calls)
      if (!next.some((block) => block.type === 'tool_result' && block.tool_use_id === id))
        throw new BadRequest(`messages.${index}: ${String(id)} without a tool_result right behind it`);
  });
};

export const readMessages = (given: unknown): Asked => {
  const body = checkFields(given, 'body', FIELDS);
  if (!Number.isInteger(body.max_tokens)) throw new BadRequest('max_tokens: Field required');
  const turns = listIn(body, 'messages').map((turn, index) => {
    const { role, content } = checkFields(turn, `messages.${index}`, ['role', 'content']);
    return { role, blocks: blocksOf(content, `messages.${index}`) };
  });
  turns.forEach(({ role }, index) => {
    if (role === turns[index + 1]?.role) throw new BadRequest(`messages.${index}: roles must alternate`);
  });
  checkPairs(turns);
  const all = turns.flatMap(({ blocks }) => blocks);
  const thoughts = all.filter(({ type }) => type === 'thinking');
  if (thoughts.some(({ signature }) => signature !== PROOF))
    throw new BadRequest('Invalid `signature` in `thinking` block');
  const output = checkFields(body.output_config ?? {}, 'output_config', ['effort', 'format']);
  const format = checkFields(output.format ?? {}, 'output_config.format', ['type', 'schema']);
  const thinking = checkFields(body.thinking ?? { type: 'disabled' }, 'thinking', [
    'type',
    'budget_tokens',
    'display',
  ]);
  const spoken = turns.findLast(({ role, blocks }) => role === 'user' && joinText(blocks) !== '');
  return {
    model: textIn(body, 'model'),
    stream: body.stream === true,
    includeUsage: true,
    system: body.system === undefined ? '' : joinText(blocksOf(body.system, 'system')),
    prompt: joinText(spoken?.blocks ?? []),
    images: all.filter(({ type }) => type === 'image').map(readImage),
    tools: listIn(body, 'tools').map((each) => {
      const known = [
        'type',
        'name',
        'description',
        'input_schema',
        'strict',
        'cache_control',
        'eager_input_streaming',
      ];
      const tool = checkFields(each, 'tools', known);
      return { name: textIn(tool, 'name'), schema: tool.input_schema as Json };
    }),
    calls: all
      .filter(({ type }) => type === 'tool_use')
      .map((block) => ({ id: textIn(block, 'id'), name: textIn(block, 'name'), input: block.input as Json })),
    results: (turns.at(-1)?.blocks ?? [])
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({
        callId: textIn(block, 'tool_use_id'),
        text: joinText(blocksOf(block.content, 'tool_result')),
      })),
    thoughts: thoughts.length,
    schema: (format.schema as Json | undefined) ?? null,
    maxTokens: body.max_tokens as number,
    effort: thinking.type === 'disabled' ? null : String(output.effort ?? thinking.type),
  };
};

const REASONS = { stop: 'end_turn', length: 'max_tokens', tools: 'tool_use', refusal: 'refusal' } as const;

const usageOf = ({ usage }: Answer): Json => ({
  input_tokens: usage.input - usage.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.output,
  service_tier: 'standard',
});

const endingOf = ({ reason, refusal }: Answer): Json => ({
  stop_reason: REASONS[reason],
  stop_sequence: null,
  ...(reason === 'refusal' && {
    stop_details: { type: 'refusal', category: null, explanation: refusal },
  }),
});

const contentOf = ({ thinking, text, calls }: Answer): readonly Json[] => [
  ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: PROOF }]),
  ...(text === '' ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
];

const openingOf = ({ model }: Asked): Json => ({
  id: 'msg_01ScriptedUpstream',
  type: 'message',
  role: 'assistant',
  model,
});

export const writeMessages = (asked: Asked, answer: Answer): Json => ({
  ...openingOf(asked),
  content: contentOf(answer),
  ...endingOf(answer),
  usage: usageOf(answer),
});

const deltasOf = (block: Json): { readonly empty: Json; readonly deltas: readonly Json[] } => {
  switch (block.type) {
    case 'thinking':
      return {
        empty: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...splitText(textIn(block, 'thinking')).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    case 'tool_use':
      return {
        empty: { ...block, input: {} },
        deltas: ['', ...(JSON.stringify(block.input).match(/.{1,9}/gsu) ?? [])].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    default:
      return {
        empty: { type: 'text', text: '' },
        deltas: splitText(textIn(block, 'text')).map((text) => ({ type: 'text_delta', text })),
      };
  }
};

/** The vendor's stream, pings and padding included. */
export const streamMessages = (asked: Asked, answer: Answer): string => {
  const frame = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data }).replace(/}$/, '   }')}\n\n`;
  const message = { ...openingOf(asked), content: [], stop_reason: null, stop_sequence: null };
  return [
    frame('message_start', { message: { ...message, usage: { ...usageOf(answer), output_tokens: 1 } } }),
    frame('ping', {}),
    ...contentOf(answer).flatMap((block, index) => {
      const { empty, deltas } = deltasOf(block);
      return [
        frame('content_block_start', { index, content_block: empty }),
        ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
        frame('content_block_stop', { index }),
      ];
    }),
    frame('message_delta', { delta: endingOf(answer), usage: { output_tokens: answer.usage.output } }),
    frame('message_stop', {}),
  ].join('');
};
