import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { DialectName } from '../../src/dialects/dialect.js';
import { APP_KEY, runGateway } from '../support/gateway.js';
import { checkLeaks } from '../support/leaks.js';
import { startScriptedUpstream } from '../support/upstreams/serve.js';
import { anthropicCaller } from './callers/anthropic.js';
import { chatCaller } from './callers/chat.js';
import { responsesCaller } from './callers/responses.js';
import { cellsOf, upstreamConfig, upstreams } from './matrix.js';
import type { Caller } from './scenarios.js';

const openai = (url: string, apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

const clients: Readonly<Record<DialectName, (url: string, apiKey: string) => Caller>> = {
  messages: (url, apiKey) => anthropicCaller(new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })),
  chat: (url, apiKey) => chatCaller(openai(url, apiKey)),
  responses: (url, apiKey) => responsesCaller(openai(url, apiKey)),
};

const sections: Readonly<Record<DialectName, string>> = { messages: '4.10', chat: '4.13', responses: '4.11' };

for (const [format, open] of Object.entries(clients))
  for (const upstream of upstreams) {
    const section = sections[format as DialectName];
    t.test(`${section} a client of ${format} reaches an upstream of ${upstream}`, async (t) => {
      checkLeaks(t);
      const scripted = await startScriptedUpstream();
      const { url } = await runGateway(t, upstreamConfig(scripted.url));
      t.teardown(() => scripted.close());
      const caller = open(url, APP_KEY);
      const straight = open(scripted.url, 'upstream-key');
      for (const { name, run } of cellsOf({ caller, upstream }, straight))
        await t.test(`${caller.name}, ${upstream}: ${name}`, () => run());
    });
  }
