import CurrentClient from '@anthropic-ai/sdk';
import OlderClient from 'anthropic-sdk-0x';
import t, { type Test } from 'tap';
import { checkLeaks } from '../../support/leaks.js';
import { simulate } from './ask.js';
import { serveSimulator, type SimulatorServer } from './serve-simulator.js';

const MODEL = 'sim-small';
const WEATHER = {
  name: 'get_weather',
  description: 'Tells the weather.',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const }, days: { type: 'integer' as const, minimum: 1 } },
    required: ['city', 'days'],
  },
};

const serve = async (t: Test, tokensPerSecond = 0): Promise<SimulatorServer> => {
  checkLeaks(t);
  const server = await serveSimulator(simulate({ tokensPerSecond }));
  t.teardown(() => server.stop());
  return server;
};

const ask = (content: string, more = {}) => ({
  model: MODEL,
  max_tokens: 500,
  messages: [{ role: 'user' as const, content }],
  ...more,
});

/** The two clients differ in their types, not in what is asked of them here. */
const CLIENTS: readonly { readonly name: string; readonly connect: (url: string) => CurrentClient }[] = [
  {
    name: 'the current client',
    connect: (baseURL) => new CurrentClient({ baseURL, apiKey: 'sk-test', maxRetries: 0 }),
  },
  {
    name: 'the older client',
    connect: (baseURL) =>
      new OlderClient({ baseURL, apiKey: 'sk-test', maxRetries: 0 }) as unknown as CurrentClient,
  },
];

for (const { name, connect } of CLIENTS) {
  t.test(`4.10 ${name} gets a whole answer`, async (t) => {
    const client = connect((await serve(t)).url);
    const message = await client.messages.create(ask('[[say=Good morning, 世界!]]'));
    t.match(message, {
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [{ type: 'text', text: 'Good morning, 世界!' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: Number, output_tokens: 5 },
    });
    t.match(message.id, /^msg_/);
    t.match(message._request_id, /^req_/);
    const counted = await client.messages.countTokens({ model: MODEL, messages: ask('12345678').messages });
    t.equal(counted.input_tokens, 2);
  });

  t.test(`4.10 ${name} reads a stream, raw and gathered`, async (t) => {
    const client = connect((await serve(t)).url);
    const question = ask('Tell me something. [[think=Hm, well]]');
    const types: string[] = [];
    for await (const event of await client.messages.create({ ...question, stream: true }))
      types.push(event.type);
    t.equal(types[0], 'message_start');
    t.strictSame(types.slice(-2), ['message_delta', 'message_stop']);

    const whole = await client.messages.create(question);
    const streamed = await client.messages.stream(question).finalMessage();
    t.strictSame(streamed.content, whole.content);
    t.equal(streamed.stop_reason, 'end_turn');
    t.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
    t.equal(types.filter((type) => type === 'content_block_delta').length, whole.usage.output_tokens + 1);
  });

  t.test(`4.10 ${name} runs a tool and sends its result back`, async (t) => {
    const client = connect((await serve(t)).url);
    const question = ask('Weather? [[tool=get_weather]]', { tools: [WEATHER] });
    const asked = await client.messages.stream(question).finalMessage();
    t.equal(asked.stop_reason, 'tool_use');
    const [call] = asked.content;
    if (call?.type !== 'tool_use') throw new Error('no call came');
    t.match(call, { name: 'get_weather', input: { city: String, days: Number } });
    const answered = await client.messages.create({
      ...question,
      messages: [
        ...question.messages,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: call.id, name: call.name, input: call.input }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Sunny' }] },
      ],
    });
    t.match(answered.content, [{ type: 'text', text: /^The tool answered: Sunny\./ }]);
    t.equal(answered.stop_reason, 'end_turn');
  });

  t.test(`4.10 ${name} understands errors before and in the middle of an answer`, async (t) => {
    const client = connect((await serve(t)).url);
    await t.rejects(client.messages.create(ask('[[status=529]]')), {
      name: 'Error',
      status: 529,
      error: { type: 'error', error: { type: 'overloaded_error' } },
      requestID: /^req_/,
    });
    await t.rejects(client.messages.stream(ask('[[status=429]]')).finalMessage(), {
      name: 'Error',
      status: 429,
    });
    await t.rejects(client.messages.create(ask('', { messages: [] })), { name: 'Error', status: 400 });
    await t.rejects(client.messages.stream(ask('[[cut=4]]')).finalMessage());
  });

  t.test(`4.10 ${name} repeats a request that is worth it`, async (t) => {
    const server = await serve(t);
    const client = connect(server.url).withOptions({ maxRetries: 1 });
    await t.rejects(client.messages.create(ask('[[status=503]]')), { name: 'Error', status: 503 });
    t.equal(server.requests, 2);
  });

  t.test(`4.10 ${name} can leave in the middle, and the answer stops`, async (t) => {
    const server = await serve(t, 20);
    const client = connect(server.url);
    const stream = client.messages.stream(ask('[[tokens=400]]'));
    let texts = 0;
    stream.on('text', () => {
      if (++texts === 2) stream.abort();
    });
    await t.rejects(stream.finalMessage());
    while (server.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    t.ok(texts < 10);
  });
}
