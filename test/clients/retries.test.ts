import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { ConfigInput } from '../../src/config/schema.js';
import { jsonAnswer } from '../support/fake-provider.js';
import { APP_KEY, frontProvider, generousLimits, runGateway } from '../support/gateway.js';

const NARROW_KEY = 'sk-test-app-key-of-no-model-here';

interface Outcome {
  readonly requests: number;
  readonly status: number | null;
}

type Ask = (url: string, apiKey: string, model?: string) => Promise<Outcome>;

/** Makes one call with the client's own retries, and says how often it knocked. */
const counted = async (call: (fetch: typeof globalThis.fetch) => Promise<unknown>): Promise<Outcome> => {
  let requests = 0;
  const outcome = await call((...args) => {
    requests++;
    return fetch(...args);
  }).then(
    () => null,
    (error: unknown) => (error as { readonly status?: number }).status ?? -1,
  );
  return { requests, status: outcome };
};

const messages = [{ role: 'user' as const, content: 'hi' }];

const clients: Readonly<Record<string, Ask>> = {
  '@anthropic-ai/sdk': (baseURL, apiKey, model = 'sim-small') =>
    counted((fetch) =>
      new Anthropic({ baseURL, apiKey, fetch }).messages.create({ model, max_tokens: 5, messages }),
    ),
  openai: (url, apiKey, model = 'sim-small') =>
    counted((fetch) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch }).chat.completions.create({ model, messages }),
    ),
};

const organization = (credits: number): NonNullable<ConfigInput['bootstrap']> => ({
  organizations: [
    {
      id: 'org_test',
      name: 'Test',
      credits,
      projects: [
        {
          id: 'proj_app',
          name: 'App',
          keys: [
            { name: 'app', value: APP_KEY },
            { name: 'narrow', value: NARROW_KEY, models: ['other'] },
          ],
        },
      ],
    },
  ],
});

const answer = {
  id: 'x',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 1, output_tokens: 1 },
};

for (const [name, ask] of Object.entries(clients)) {
  t.test(`7.4 ${name} knocks once where a key, a permission or credits are missing`, async (t) => {
    const { url } = await runGateway(t, { bootstrap: organization(0) });
    t.same(await ask(url, 'sk-nobody-knows-this-key'), { requests: 1, status: 401 });
    t.same(await ask(url, APP_KEY), { requests: 1, status: 402 });
    t.same(await ask(url, NARROW_KEY, 'other-2'), { requests: 1, status: 404 });
    const rich = await runGateway(t, { bootstrap: organization(1_000) });
    t.same(await ask(rich.url, NARROW_KEY), { requests: 1, status: 403 });
  });

  t.test(`7.4 ${name} neither sleeps until tomorrow nor hammers when a day is used up`, async (t) => {
    const { url } = await runGateway(t, {
      limits: { ...generousLimits, overrides: [{ scope: 'key', id: '*', rpd: 1 }] },
    });
    t.same(await ask(url, APP_KEY), { requests: 1, status: null });
    t.same(await ask(url, APP_KEY), { requests: 1, status: 429 });
  });

  t.test(`7.4 ${name} does not wait for hours because a provider wishes it`, async (t) => {
    for (const status of [429, 503, 529]) {
      const { url } = await frontProvider(t, 'anthropic', jsonAnswer(status, {}, { 'retry-after': '7200' }));
      t.same(await ask(url, APP_KEY), { requests: 1, status });
    }
  });

  t.test(`D42 ${name} waits a short while and comes again where that helps`, async (t) => {
    const { url, upstream } = await frontProvider(t, 'anthropic', jsonAnswer(200, answer), {
      provider: { retry: { attempts: 1 } },
    });
    upstream.play(jsonAnswer(429, {}, { 'retry-after': '1' }), jsonAnswer(200, answer));
    t.same(await ask(url, APP_KEY), { requests: 2, status: null });
    upstream.play(jsonAnswer(500, {}), jsonAnswer(200, answer));
    t.same(await ask(url, APP_KEY), { requests: 2, status: null });
    upstream.play(jsonAnswer(400, { error: { message: 'no' } }));
    t.same(await ask(url, APP_KEY), { requests: 1, status: 400 });
  });
}
