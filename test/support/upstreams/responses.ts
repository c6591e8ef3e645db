import {
  BadRequest,
  checkFields,
  isObject,
  listIn,
  parseInput,
  PROOF,
  readDataUrl,
  textIn,
  type Asked,
  type Json,
} from './model.js';

const FIELDS =
  'model input instructions stream stream_options tools tool_choice parallel_tool_calls max_output_tokens reasoning text include store metadata temperature top_p user safety_identifier prompt_cache_key truncation service_tier'.split(
    ' ',
  );
// `parsed` and `parsed_arguments` are notes of the vendor's own SDK, which sends them back.
const ITEMS: Readonly<Record<string, readonly string[]>> = {
  message: ['id', 'role', 'content', 'status', 'phase'],
  function_call: ['id', 'call_id', 'name', 'arguments', 'status', 'parsed_arguments'],
  function_call_output: ['id', 'call_id', 'output', 'status'],
  reasoning: ['id', 'summary', 'encrypted_content', 'content', 'status'],
};
const PARTS: Readonly<Record<string, readonly string[]>> = {
  input_text: ['text'],
  output_text: ['text', 'annotations', 'logprobs', 'parsed'],
  refusal: ['refusal'],
  input_image: ['image_url', 'detail', 'file_id'],
};
const LEAST_TOKENS = 16;

const typed = (
  value: unknown,
  kinds: Readonly<Record<string, readonly string[]>>,
  fallback: string,
): Json => {
  const type = isObject(value) && value.type !== undefined ? textIn(value, 'type') : fallback;
  const known = kinds[type];
  if (!known) throw new BadRequest(`nothing of type ${type}`);
  return { ...checkFields(value, type, ['type', ...known]), type };
};

const partsOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  if (!Array.isArray(content)) throw new BadRequest('content: must be text or parts');
  return content.map((part: unknown) => typed(part, PARTS, ''));
};

const joinText = (parts: readonly Json[]): string =>
  parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');

/** Proof where nothing is kept here, else the id of what was kept. */
const checkThought = ({ encrypted_content, id }: Json, keeps: boolean): void => {
  if (typeof encrypted_content === 'string' && encrypted_content !== PROOF)
    throw new BadRequest('The encrypted content could not be verified.');
  if (typeof encrypted_content !== 'string' && !(keeps && id === 'rs_scripted'))
    throw new BadRequest(`Item with id '${String(id)}' not found.`);
};

const checkPairs = (items: readonly Json[]): void => {
  const idsOf = (type: string) => items.filter((item) => item.type === type).map((item) => item.call_id);
  const answered = idsOf('function_call_output');
  for (const id of idsOf('function_call'))
    if (!answered.includes(id)) throw new BadRequest(`No tool output found for function call ${String(id)}.`);
};

const readItems = (body: Json): readonly Json[] => {
  if (typeof body.input === 'string') return [{ type: 'message', role: 'user', content: body.input }];
  return listIn(body, 'input').map((item) => typed(item, ITEMS, 'message'));
};

const maxTokensOf = ({ max_output_tokens: bound }: Json): number | null => {
  if (typeof bound !== 'number') return null;
  if (bound < LEAST_TOKENS) throw new BadRequest(`max_output_tokens: at least ${LEAST_TOKENS}`);
  return bound;
};

/** What this vendor does only when told so. */
export interface ResponsesWishes {
  readonly summarizes: boolean;
  readonly encrypts: boolean;
}

export const readWishes = (body: Json): ResponsesWishes => ({
  summarizes: isObject(body.reasoning) && typeof body.reasoning.summary === 'string',
  encrypts: listIn(body, 'include').includes('reasoning.encrypted_content'),
});

export const readResponses = (given: unknown): Asked => {
  const body = checkFields(given, 'body', FIELDS);
  const items = readItems(body);
  checkPairs(items);
  const thoughts = items.filter(({ type }) => type === 'reasoning');
  for (const thought of thoughts) checkThought(thought, body.store !== false);
  const said = items.filter(({ type }) => type === 'message');
  const users = said.filter(({ role }) => role === 'user').map(({ content }) => partsOf(content));
  const told = said.filter(({ role }) => role === 'system' || role === 'developer');
  const reasoning = checkFields(body.reasoning ?? {}, 'reasoning', ['effort', 'summary']);
  const text = checkFields(body.text ?? {}, 'text', ['format', 'verbosity']);
  const format = checkFields(text.format ?? {}, 'text.format', [
    'type',
    'name',
    'schema',
    'strict',
    'description',
  ]);
  const last = items.findLastIndex(({ type }) => type !== 'function_call_output');
  return {
    model: textIn(body, 'model'),
    stream: body.stream === true,
    includeUsage: true,
    system: [
      ...(typeof body.instructions === 'string' ? [body.instructions] : []),
      ...told.map(({ content }) => joinText(partsOf(content))),
    ].join('\n'),
    prompt: joinText(users.at(-1) ?? []),
    images: users
      .flat()
      .filter(({ type }) => type === 'input_image')
      .map((part) => readDataUrl(textIn(part, 'image_url'))),
    tools: listIn(body, 'tools').map((each) => {
      const tool = checkFields(each, 'tools', ['type', 'name', 'description', 'parameters', 'strict']);
      return { name: textIn(tool, 'name'), schema: tool.parameters as Json };
    }),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({
        id: textIn(item, 'call_id'),
        name: textIn(item, 'name'),
        input: parseInput(textIn(item, 'arguments')),
      })),
    results: items
      .slice(last + 1)
      .map((item) => ({ callId: textIn(item, 'call_id'), text: joinText(partsOf(item.output)) })),
    thoughts: thoughts.length,
    schema: (format.schema as Json | undefined) ?? null,
    maxTokens: maxTokensOf(body),
    effort: typeof reasoning.effort === 'string' && reasoning.effort !== 'none' ? reasoning.effort : null,
  };
};
