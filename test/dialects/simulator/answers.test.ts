import t from 'tap';
import { ask, countDeltas, FORMATS, hear, inputTokens, outputTokens, PATHS, requestOf } from './ask.js';

const QUESTION = 'What should I cook tonight?';

t.test('D49 the same request gets the same words, another one gets others', async (t) => {
  const first = await hear('messages', QUESTION);
  const again = await hear('messages', QUESTION);
  t.equal(first.streamed.text, again.streamed.text);
  t.equal(first.streamed.text, first.whole.text, 'streamed or not');
  const other = await hear('messages', 'What should I cook tomorrow?');
  t.not(first.streamed.text, other.streamed.text);
  const texts = new Set<string>();
  for (let i = 0; i < 20; i++) texts.add((await hear('messages', `${QUESTION} ${i}`)).streamed.text);
  t.equal(texts.size, 20);
});

for (const format of FORMATS) {
  t.test(
    `D49 ${format}: plain sentences of a pleasant length, one delta a token, truthfully counted`,
    async (t) => {
      const { streamed, whole, stream } = await hear(format, QUESTION);
      t.match(streamed.text, /^[A-Z][a-z ,.A-Z\n]+\.$/);
      const tokens = countDeltas(format, stream);
      t.ok(tokens >= 40 && tokens <= 90, `${tokens} tokens`);
      t.equal(outputTokens(streamed), tokens);
      t.equal(outputTokens(whole), tokens);
      t.equal(inputTokens(whole), Math.ceil(QUESTION.length / 4));
      t.equal(streamed.finish, { messages: 'end_turn', chat: 'stop', responses: 'completed' }[format]);
    },
  );

  t.test(`4.10 ${format}: the answer ends at the most tokens asked for, and says so`, async (t) => {
    const key = format === 'responses' ? 'max_output_tokens' : 'max_tokens';
    const { streamed, whole, stream } = await hear(format, QUESTION, { [key]: 5 });
    t.equal(countDeltas(format, stream), 5);
    t.equal(outputTokens(streamed), 5);
    t.equal(streamed.text, whole.text);
    const reason = { messages: 'max_tokens', chat: 'length', responses: 'max_output_tokens' }[format];
    t.equal(streamed.finish, reason);
    t.equal(whole.finish, reason);
  });

  t.test(`D49 ${format}: an answer that just fits has ended by itself`, async (t) => {
    const key = format === 'responses' ? 'max_output_tokens' : 'max_tokens';
    const { streamed } = await hear(format, '[[tokens=7]]', { [key]: 7 });
    t.equal(outputTokens(streamed), 7);
    t.equal(streamed.finish, { messages: 'end_turn', chat: 'stop', responses: 'completed' }[format]);
  });

  t.test(`D49 ${format}: JSON asked for by a schema fits it`, async (t) => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 5 } },
      required: ['city', 'days'],
    };
    const asked = {
      messages: { output_config: { format: { type: 'json_schema', schema } } },
      chat: { response_format: { type: 'json_schema', json_schema: { name: 'trip', schema } } },
      responses: { text: { format: { type: 'json_schema', name: 'trip', schema } } },
    }[format];
    const { streamed, whole } = await hear(format, 'Plan a trip.', asked);
    const value = JSON.parse(streamed.text) as { city: unknown; days: number };
    t.type(value.city, 'string');
    t.ok(Number.isInteger(value.days) && value.days >= 1 && value.days <= 5);
    t.equal(whole.text, streamed.text);
  });

  t.test(`D49 ${format}: a body that makes no sense gets the format's own 400`, async (t) => {
    const bad: readonly [unknown, string | null][] = [
      ['{"model":', null],
      ['[]', null],
      [requestOf(format, QUESTION, { model: 7 }), 'model'],
      [requestOf(format, QUESTION, { stream: 'yes' }), 'stream'],
      [requestOf(format, QUESTION, { max_tokens: 0 }), 'max_tokens'],
      [requestOf(format, QUESTION, { tools: {} }), 'tools'],
      [{ model: 'm', messages: [], input: [] }, format === 'responses' ? 'input' : 'messages'],
      [{ model: 'm', messages: [3], input: [3] }, format === 'responses' ? 'input.0' : 'messages.0'],
    ];
    for (const [body, param] of bad) {
      const answer = await ask(PATHS[format], body);
      t.equal(answer.status, 400);
      t.equal(answer.headers['content-type'], 'application/json');
      const error = JSON.parse(answer.body) as object;
      if (format === 'messages')
        t.match(error, { type: 'error', error: { type: 'invalid_request_error', message: String } });
      else t.match(error, { error: { type: 'invalid_request_error', message: String, param } });
    }
  });

  t.test(`D49 ${format}: tool results are talked about`, async (t) => {
    const turns = {
      messages: {
        messages: [
          { role: 'user', content: '[[tool=look]] weather?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '21 degrees' }] },
        ],
      },
      chat: {
        messages: [
          { role: 'user', content: '[[tool=look]] weather?' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: '21 degrees' },
        ],
      },
      responses: {
        input: [
          { role: 'user', content: '[[tool=look]] weather?' },
          { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: 'a', output: '21 degrees' },
        ],
      },
    }[format];
    const { streamed } = await hear(format, '', turns);
    t.match(streamed.text, /^The tool answered: 21 degrees\./);
    t.strictSame(streamed.calls, []);
  });
}

t.test('D49 the answer stops before a stop sequence and names it', async (t) => {
  const { streamed, whole, stream } = await hear('messages', '[[say=one two three four]]', {
    stop_sequences: ['zzz', ' three'],
  });
  t.equal(streamed.text, 'one two');
  t.equal(whole.text, 'one two');
  t.equal(streamed.finish, 'stop_sequence');
  t.match(stream, '"stop_sequence":" three"');
  t.equal((await hear('chat', '[[say=one two three]]', { stop: 'two' })).whole.text, 'one ');
});

t.test('D49 usage in a chat stream comes only when asked for', async (t) => {
  const { body } = await ask(PATHS.chat, requestOf('chat', QUESTION, { stream: true }));
  t.notMatch(body, '"usage"');
});

t.test('4.12 input tokens are counted by the rule that usage follows', async (t) => {
  const body = {
    model: 'm',
    system: [{ type: 'text', text: 'Be kind.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Grüße' }] },
      { role: 'user', content: 'abc' },
    ],
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
  };
  const bytes = 8 + 7 + 3 + JSON.stringify(body.tools).length;
  const counted = await ask('/v1/messages/count_tokens?beta=true', body);
  t.equal(counted.status, 200);
  t.strictSame(JSON.parse(counted.body), { input_tokens: Math.ceil(bytes / 4) });
  const answered = await ask('/v1/messages', body);
  t.match(JSON.parse(answered.body), { usage: { input_tokens: Math.ceil(bytes / 4) } });
  t.equal((await ask('/v1/messages/count_tokens', { model: 'm' })).status, 400);
});

t.test('D49 every answer has a request id; unknown paths are 404', async (t) => {
  const streamed = await ask(PATHS.messages, requestOf('messages', QUESTION, { stream: true }));
  t.match(streamed.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'request-id': /^req_/,
    'x-request-id': /^req_/,
  });
  const whole = await ask('/v1/chat/completions', requestOf('chat', QUESTION));
  t.equal(whole.headers['content-length'], String(Buffer.byteLength(whole.body)));
  t.equal((await ask('/v1/embeddings', {})).status, 404);
  t.equal((await ask('/v1/constructor', {})).status, 404);
});

t.test('D49 every way of stating the last user message is understood', async (t) => {
  const say = '[[say=found]]';
  const bodies: readonly [string, object][] = [
    [PATHS.messages, { messages: [{ role: 'user', content: [{ type: 'text', text: say }] }] }],
    [
      PATHS.messages,
      {
        messages: [
          { role: 'user', content: say },
          { role: 'system', content: 'Note.' },
          { role: 'assistant', content: 'Well, ' },
        ],
      },
    ],
    [PATHS.chat, { messages: [{ role: 'user', content: [{ type: 'text', text: say }] }] }],
    [PATHS.responses, { input: say }],
    [PATHS.responses, { input: [{ role: 'user', content: say }] }],
    [
      PATHS.responses,
      { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: say }] }] },
    ],
  ];
  for (const [path, body] of bodies)
    t.match(
      (await ask(path, { model: 'm', ...body })).body,
      /"(?:text|content)":"found"/,
      JSON.stringify(body),
    );
  const earlier = {
    messages: [
      { role: 'user', content: say },
      { role: 'user', content: 'now' },
    ],
  };
  t.notMatch((await ask(PATHS.messages, { model: 'm', ...earlier })).body, '"found"');
});
