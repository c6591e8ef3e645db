import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import type { DialectName, Json } from '../../src/dialects/dialect.js';
import { translateWhole } from '../../src/dialects/translate-whole.js';
import { fullAnswer, fullText, wholeAnswer } from '../dialects/decode/answers.js';
import { start, stream, text, opens, textBlock, type Wire } from '../dialects/decode/wire.js';
import { creditFields, cutInto, dialects } from '../golden/replay.js';
import { replayTranslated } from '../golden/translated.js';

const paths: Readonly<Record<string, DialectName>> = {
  '/v1/messages': 'messages',
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
};

/** A server that answers every format with the translation of one upstream answer. */
const serveTranslated = async (t: Test, from: DialectName, frames: readonly Wire[]): Promise<string> => {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const to = paths[req.url ?? '']!;
    const body = (await json(req)) as Json;
    if (body.stream === true) {
      const chunks = cutInto(stream(from, frames), [700]);
      const { output } = await replayTranslated(from, to, chunks, { request: body });
      res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end(output);
      return;
    }
    const bytes = Buffer.from(JSON.stringify(wholeAnswer[from]));
    const translated = await translateWhole(from, to, bytes, dialects[to].read(body));
    res.writeHead(200, { 'content-type': 'application/json' }).end(translated.seal(creditFields));
  };
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const messages = [{ role: 'user' as const, content: 'hi' }];
const creditsOf = (answer: unknown): unknown => (answer as Json).estimated_credits_used;

for (const from of ['chat', 'responses'] as const) {
  t.test(`4.10 the Anthropic SDK reads what an upstream of ${from} answers`, async (t) => {
    const baseURL = await serveTranslated(t, from, fullAnswer[from]);
    const client = new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 });
    const ask = { model: 'm', max_tokens: 100, messages };
    const expected = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.' },
        { type: 'text', text: fullText },
        { type: 'tool_use', id: 'toolu_a', name: 'a', input: { x: 1 } },
        { type: 'tool_use', id: 'toolu_b', name: 'b', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, output_tokens: 9 },
    };
    t.match(await client.messages.stream(ask).finalMessage(), expected, 'helper');
    const whole = await client.messages.create(ask);
    t.match(whole, expected, 'whole');
    t.equal(creditsOf(whole), 12);
    let raw = '';
    let credits: unknown;
    for await (const event of await client.messages.create({ ...ask, stream: true })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') raw += event.delta.text;
      if (event.type === 'message_delta') credits = creditsOf(event);
    }
    t.equal(raw, fullText, 'raw');
    t.equal(credits, 12);
  });
}

for (const from of ['messages', 'responses'] as const) {
  t.test(`4.10 the OpenAI SDK reads as a chat what an upstream of ${from} answers`, async (t) => {
    const url = await serveTranslated(t, from, fullAnswer[from]);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
    const ask = { model: 'm', messages };
    const expected = {
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: fullText,
            tool_calls: [
              { id: 'toolu_a', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
              { id: 'toolu_b', type: 'function', function: { name: 'b', arguments: '{}' } },
            ],
          },
        },
      ],
    };
    const helper = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    t.match(await helper.finalChatCompletion(), expected, 'helper');
    t.match(await helper.totalUsage(), { prompt_tokens: 7, completion_tokens: 9 });
    const whole = await client.chat.completions.create(ask);
    t.match(whole, expected, 'whole');
    t.equal(creditsOf(whole), 12);
    let [raw, reasoning] = ['', ''];
    for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true })) {
      raw += choices[0]?.delta.content ?? '';
      reasoning += (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
    }
    t.same([raw, reasoning], [fullText, 'Let me see.'], 'raw');
  });
}

for (const from of ['messages', 'chat'] as const) {
  t.test(`4.11 the OpenAI SDK reads as a response what an upstream of ${from} answers`, async (t) => {
    const url = await serveTranslated(t, from, fullAnswer[from]);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
    const ask = { model: 'm', input: 'hi' };
    const expected = {
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
        { type: 'message', content: [{ type: 'output_text', text: fullText, annotations: [] }] },
        { type: 'function_call', call_id: 'toolu_a', name: 'a', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'toolu_b', name: 'b', arguments: '{}' },
      ],
      usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 },
    };
    const final = await client.responses.stream(ask).finalResponse();
    t.match(final, expected, 'helper');
    t.equal(creditsOf(final), 12);
    const whole = await client.responses.create(ask);
    t.match(whole, expected, 'whole');
    t.equal(whole.output_text, fullText);
    let raw = '';
    for await (const event of await client.responses.create({ ...ask, stream: true }))
      if (event.type === 'response.output_text.delta') raw += event.delta;
    t.equal(raw, fullText, 'raw');
  });
}

t.test('4.10 a cut answer of another format is an error to every SDK, never a short success', async (t) => {
  const url = await serveTranslated(t, 'messages', [start(), opens(0, textBlock), text(0, 'Half')]);
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 });
  await t.rejects(openai.chat.completions.stream({ model: 'm', messages }).finalChatCompletion(), {
    message: /before it was complete/,
  });
  await t.rejects(openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse());
  const other = await serveTranslated(t, 'chat', fullAnswer.chat.slice(0, 8));
  const anthropic = new Anthropic({ baseURL: other, apiKey: 'k', maxRetries: 0 });
  await t.rejects(anthropic.messages.stream({ model: 'm', max_tokens: 9, messages }).finalMessage(), {
    message: /before it was complete/,
  });
});
