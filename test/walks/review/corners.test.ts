import t from 'tap';
import { openDesk, type Desk } from '../../support/review.js';
import { houses, MAIL } from './rows.js';

const asked = (content: string, more: object = {}) => ({
  model: 'on-messages',
  max_tokens: 50,
  messages: [{ role: 'user', content }],
  ...more,
});

const sse = (events: readonly (readonly [name: string | null, data: object])[]): string =>
  events
    .map(([name, data]) => `${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`)
    .join('');

const read = async (reply: Response): Promise<string> => {
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return text;
};

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'on-chat' };
const chunk = (delta: object, more: object = {}) =>
  [null, { ...HEAD, choices: [{ index: 0, delta, finish_reason: null, ...more }] }] as const;
const DONE = 'data: [DONE]\n\n';
const token = (text: string) => ({ token: text, logprob: -0.1, bytes: [], top_logprobs: [] });

const chat = ({ ask }: Desk, house: string, more: object = {}) =>
  ask(house, '/v1/chat/completions', { ...asked('Hello.'), model: 'on-chat', ...more }).then(read);
const responses = ({ ask }: Desk, house: string, more: object = {}) =>
  ask(house, '/v1/responses', { model: 'on-responses', input: 'Hello.', ...more }).then(read);

t.test('4.13 probabilities do not spell what was masked', async (t) => {
  const desk = await openDesk(t, houses);
  const pieces = ['Ask ', 'jane.doe', '@example', '.com', ' now.'];
  desk.talker.says({
    raw:
      sse([
        chunk({ role: 'assistant', content: '' }),
        ...pieces.map((content) => chunk({ content }, { logprobs: { content: [token(content)] } })),
        [null, { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
      ]) + DONE,
  });
  const streamed = await chat(desk, 'redacting', { stream: true });
  t.match(streamed, /\[EMAIL_1\]/);
  t.notMatch(streamed, /jane|@example/);
  t.match(streamed, '"token":" now."', 'the rest keeps its own');

  const choice = {
    index: 0,
    message: { role: 'assistant', content: `Ask ${MAIL} now.`, refusal: null },
    logprobs: { content: pieces.map(token) },
    finish_reason: 'stop',
  };
  desk.talker.says({ raw: JSON.stringify({ ...HEAD, object: 'chat.completion', choices: [choice] }) });
  const whole = await chat(desk, 'redacting');
  t.match(whole, /\[EMAIL_1\]/);
  t.notMatch(whole, /jane/);
});

t.test('4.13 a refusal before any text names its answer', async (t) => {
  const desk = await openDesk(t, houses);
  desk.talker.says({ text: 'zorkmid zorkmid' });
  const text = await chat(desk, 'denying', { stream: true });
  const chunks = text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { id?: string; model?: string; created?: number });
  t.ok(chunks.length >= 3);
  for (const { id, model, created } of chunks)
    t.match({ id, model, created }, { id: 'chatcmpl-scripted', model: 'on-chat', created: Number });
});

t.test('4.13 what an answer speaks is read by its transcript', async (t) => {
  const desk = await openDesk(t, houses);
  const spoken = ['A zork', 'mid for you.'].map((transcript) => chunk({ audio: { id: 'a', transcript } }));
  desk.talker.says({ raw: sse([chunk({ role: 'assistant', content: '' }), ...spoken]) + DONE });
  t.match(await chat(desk, 'denying', { stream: true }), /content_filter/);
});

t.test('4.11 what is said again is masked again, in calls of every kind', async (t) => {
  const desk = await openDesk(t, houses);
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'in_progress',
    model: 'on-responses',
    output: [],
  };
  const item = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c', name: 'note', status: 'in_progress' };
  const input = `Write to ${MAIL}.`;
  const at = { item_id: 'ctc_1', output_index: 0 };
  const events: readonly (readonly [string, object])[] = [
    ['response.created', { response }],
    ['response.output_item.added', { output_index: 0, item: { ...item, input: '' } }],
    ['response.custom_tool_call_input.delta', { ...at, delta: input.slice(0, 15) }],
    ['response.custom_tool_call_input.delta', { ...at, delta: input.slice(15) }],
    ['response.custom_tool_call_input.done', { ...at, input }],
    ['response.output_item.done', { output_index: 0, item: { ...item, input, status: 'completed' } }],
    [
      'response.completed',
      { response: { ...response, status: 'completed', output: [{ ...item, input, status: 'completed' }] } },
    ],
  ];
  const numbered = events.map(
    ([type, data], sequence_number) => [type, { type, sequence_number, ...data }] as const,
  );
  desk.talker.says({ raw: sse(numbered) });
  const text = await responses(desk, 'redacting', { stream: true });
  t.notMatch(text, MAIL);
  t.equal(text.split('Write to [EMAIL_1].').length - 1, 4);
  const refused = await responses(desk, 'denying', { stream: true });
  t.match(refused, MAIL, 'without redaction nothing is changed');
});

t.test("4.11 what an upstream's own tools give is read", async (t) => {
  const desk = await openDesk(t, houses);
  const item = (output: string) => ({ id: 'mcp_1', type: 'mcp_call', name: 'find', arguments: '{}', output });
  const response = (output: string) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'on-responses',
    output: [item(output)],
  });
  const events = (output: string) =>
    sse([
      ['response.created', { type: 'response.created', response: { ...response(output), output: [] } }],
      [
        'response.output_item.done',
        { type: 'response.output_item.done', output_index: 0, item: item(output) },
      ],
      ['response.completed', { type: 'response.completed', response: response(output) }],
    ]);
  desk.talker.says({ raw: events('A zorkmid.') });
  t.match(await responses(desk, 'denying', { stream: true }), /response\.incomplete/);
  desk.talker.says({ raw: JSON.stringify(response('A zorkmid.')) });
  t.match(JSON.parse(await responses(desk, 'denying')), { status: 'incomplete' });
  desk.talker.says({ raw: events(`Found ${MAIL}.`) });
  const masked = await responses(desk, 'redacting', { stream: true });
  t.match(masked, 'Found [EMAIL_1].');
  t.notMatch(masked, MAIL);
});

t.test("4.10 what an upstream's own tools give is read", async (t) => {
  const desk = await openDesk(t, houses);
  const message = (text: string) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'on-messages',
    content: [
      { type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [{ type: 'text', text }] },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
  const stream = (text: string) => {
    const { content, ...rest } = message(text);
    return sse([
      ['message_start', { type: 'message_start', message: { ...rest, content: [], stop_reason: null } }],
      ['content_block_start', { type: 'content_block_start', index: 0, content_block: content[0] }],
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      [
        'message_delta',
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      ],
      ['message_stop', { type: 'message_stop' }],
    ]);
  };
  const send = (house: string, more: object = {}) =>
    desk.ask(house, '/v1/messages', asked('Hello.', more)).then(read);
  desk.talker.says({ raw: stream('A zorkmid.') });
  const refused = await send('denying', { stream: true });
  t.match(refused, '"stop_reason":"refusal"');
  t.notMatch(refused, 'zorkmid');
  desk.talker.says({ raw: stream(`Found ${MAIL}.`) });
  t.match(await send('redacting', { stream: true }), 'Found [EMAIL_1].');
  desk.talker.says({ raw: JSON.stringify(message('A zorkmid.')) });
  t.match(JSON.parse(await send('denying')), { stop_reason: 'refusal', content: [] });
  desk.talker.says({ raw: JSON.stringify(message(`Found ${MAIL}.`)) });
  t.match(await send('redacting'), 'Found [EMAIL_1].');
});

t.test('D19 what a request tells of its tools is read, at any depth', async (t) => {
  const desk = await openDesk(t, houses);
  const schema = (description: string) => ({
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'object', properties: { to: { type: 'string', description } } } },
    },
  });
  const tools = (description: string) => ({
    tools: [{ name: 'note', description: 'Notes it.', input_schema: schema(description) }],
  });
  const send = (house: string, more: object) => desk.ask(house, '/v1/messages', asked('Hello.', more));
  t.equal((await send('denying', tools('A zorkmid.'))).status, 400);
  desk.talker.forget();
  t.equal((await send('redacting', tools(`Such as ${MAIL}.`))).status, 200);
  t.match(desk.talker.seen[0]?.body, 'Such as [EMAIL_1].');
  const predicted = { prediction: { type: 'content', content: 'A zorkmid.' }, model: 'on-chat' };
  const reply = await desk.ask('denying', '/v1/chat/completions', { ...asked('Hello.'), ...predicted });
  t.equal(reply.status, 400);
  t.equal(reply.headers.get('x-error-code'), 'policy_blocked');
});
