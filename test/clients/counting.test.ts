import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0x';
import OpenAI from 'openai';
import t from 'tap';
import { jsonAnswer } from '../support/fake-provider.js';
import { APP_KEY, frontProvider, runGateway } from '../support/gateway.js';

const models = [
  { name: 'sim-small', provider: 'sim' },
  { name: 'sim-*', provider: 'sim', listed: Array.from({ length: 30 }, (_, index) => `sim-${index}`) },
];

const counters: Readonly<Record<string, (baseURL: string) => Pick<Anthropic['messages'], 'countTokens'>>> = {
  'the current SDK (Bearer)': (baseURL) =>
    new Anthropic({ baseURL, apiKey: APP_KEY, maxRetries: 0 }).messages,
  'an older SDK (x-api-key)': (baseURL) =>
    new OldAnthropic({ baseURL, apiKey: APP_KEY, maxRetries: 0 })
      .messages as unknown as Anthropic['messages'],
};

for (const [name, open] of Object.entries(counters)) {
  t.test(`4.12 ${name} counts tokens, with tools, pictures and thinking`, async (t) => {
    const { url } = await frontProvider(t, 'openai_chat', jsonAnswer(500, {}));
    const { input_tokens: tokens } = await open(url).countTokens({
      model: 'gpt-5',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'url', url: 'https://pictures.test/a.png' } },
          ],
        },
      ],
      tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });
    t.ok(tokens > 1_950 && tokens < 2_050, String(tokens));
  });

  t.test(`4.12 ${name} reads what is wrong with a body`, async (t) => {
    const { url } = await runGateway(t);
    const fault = await open(url)
      .countTokens({ model: '', messages: [] })
      .then(
        () => null,
        (error: unknown) => error as { status: number; error: { detail: unknown[] } },
      );
    t.equal(fault?.status, 422);
    t.equal(fault?.error.detail.length, 2);
  });
}

t.test('4.12 the beta client counts too, and its edits are consumed', async (t) => {
  const { url } = await runGateway(t);
  const client = new Anthropic({ baseURL: url, apiKey: APP_KEY, maxRetries: 0 });
  const counted = await client.beta.messages.countTokens({
    model: 'sim-small',
    messages: [{ role: 'user', content: 'hello world!' }],
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    betas: ['context-management-2025-06-27'],
  });
  t.equal(counted.input_tokens, 3);
});

t.test('the Anthropic SDK lists models page by page, and reads one', async (t) => {
  const { url } = await runGateway(t, { models });
  const client = new Anthropic({ baseURL: url, apiKey: APP_KEY, maxRetries: 0 });
  const ids: string[] = [];
  for await (const model of client.models.list({ limit: 7 })) ids.push(model.id);
  t.equal(ids.length, 31);
  t.equal(new Set(ids).size, 31);
  t.match(await client.models.retrieve('sim-small'), { id: 'sim-small', type: 'model', max_tokens: 8_192 });
});

t.test('the OpenAI SDK lists models and reads one', async (t) => {
  const { url } = await runGateway(t, { models });
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: APP_KEY, maxRetries: 0 });
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  t.equal(ids.length, 31);
  t.match(await client.models.retrieve('sim-5'), { id: 'sim-5', object: 'model', owned_by: 'sim' });
  await t.rejects(client.models.retrieve('nobody'), { status: 404, code: 'model_not_found' });
});
