import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0x';
import t from 'tap';
import { APP_KEY, runGateway } from '../support/gateway.js';

/** The calls both releases share, so that one body of tests runs against each. */
interface Client {
  readonly messages: Pick<Anthropic['messages'], 'create' | 'stream'>;
}

const clients: Readonly<Record<string, (baseURL: string, apiKey: string) => Client>> = {
  'the current SDK (Bearer)': (baseURL, apiKey) => new Anthropic({ baseURL, apiKey, maxRetries: 0 }),
  'an older SDK (x-api-key)': (baseURL, apiKey) =>
    new OldAnthropic({ baseURL, apiKey, maxRetries: 0 }) as unknown as Client,
};

const ask = (content: string) => ({
  model: 'sim-small',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
});

/** An SDK's error, as far as both releases agree. */
interface ApiError {
  readonly status: number;
  readonly error: { readonly error: { readonly type: string; readonly message: string } };
}

const failure = async (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as ApiError,
  );

for (const [name, open] of Object.entries(clients)) {
  t.test(`4.10 ${name} creates a message`, async (t) => {
    const { url } = await runGateway(t);
    const message = await open(url, APP_KEY).messages.create(ask('[[say=Good morning]]'));
    t.match(message, {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Good morning' }],
      stop_reason: 'end_turn',
      remaining_credits: Number,
      estimated_credits_used: 1,
    });
  });

  t.test(`4.10 ${name} streams a message and assembles it`, async (t) => {
    const { url } = await runGateway(t);
    const stream = open(url, APP_KEY).messages.stream(ask('[[say=One two three, naïve 🌍]]'));
    let streamed = '';
    stream.on('text', (text) => (streamed += text));
    const message = await stream.finalMessage();
    t.equal(streamed, 'One two three, naïve 🌍');
    t.match(message, { content: [{ type: 'text', text: streamed }], stop_reason: 'end_turn' });
    t.ok(message.usage.output_tokens > 1);
  });

  t.test(`4.10 ${name} reads the raw events, the credits among them`, async (t) => {
    const { url } = await runGateway(t);
    const events = [];
    const stream = await open(url, APP_KEY).messages.create({ ...ask('[[tokens=5]]'), stream: true });
    for await (const event of stream) events.push(event);
    t.match(events.at(-2), { type: 'message_delta', estimated_credits_used: 1, remaining_credits: Number });
    t.match(events.at(-1), { type: 'message_stop' });
  });

  t.test(`4.10 ${name} calls a tool`, async (t) => {
    const { url } = await runGateway(t);
    const tools = [
      {
        name: 'get_weather',
        description: 'Weather of a city',
        input_schema: {
          type: 'object' as const,
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    ];
    const request = { ...ask('[[tool=get_weather]]'), tools };
    const whole = await open(url, APP_KEY).messages.create(request);
    const streamed = await open(url, APP_KEY).messages.stream(request).finalMessage();
    for (const message of [whole, streamed])
      t.match(message, {
        stop_reason: 'tool_use',
        content: [{ type: 'tool_use', name: 'get_weather', input: { city: String } }],
      });
  });

  t.test(`7.3 ${name} sees each error with its status and type`, async (t) => {
    const { url } = await runGateway(t);
    const cases: readonly (readonly [Promise<unknown>, number, string])[] = [
      [open(url, 'sk-not-a-key-anybody-knows').messages.create(ask('hi')), 401, 'authentication_error'],
      [open(url, APP_KEY).messages.create({ ...ask('hi'), model: 'nope' }), 404, 'not_found_error'],
      [open(url, APP_KEY).messages.create({ ...ask('hi'), messages: [] }), 400, 'invalid_request_error'],
      [open(url, APP_KEY).messages.create(ask('[[status=529]]')), 529, 'overloaded_error'],
      [open(url, APP_KEY).messages.create(ask('[[status=429]]')), 429, 'rate_limit_error'],
      [open(url, APP_KEY).messages.create(ask('[[status=500]]')), 502, 'api_error'],
    ];
    for (const [call, status, type] of cases) {
      const error = await failure(call);
      t.equal(error.status, status);
      t.equal(error.error.error.type, type);
    }
  });

  t.test(`6.1 ${name} is told when an answer breaks off`, async (t) => {
    const { url } = await runGateway(t);
    const error = await failure(open(url, APP_KEY).messages.stream(ask('[[cut=3]]')).finalMessage());
    t.match(error, { message: /broke off|ended/i });
  });
}
