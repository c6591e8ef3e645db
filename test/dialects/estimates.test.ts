import t from 'tap';
import { bridge } from '../../src/dialects/bridge.js';
import type { DialectName, Json } from '../../src/dialects/dialect.js';
import { creditFields, dialects, faults, replay } from '../golden/replay.js';

const ESTIMATE = 10_000;
const names: readonly DialectName[] = ['messages', 'chat', 'responses'];

const event = (name: string | null, data: Json): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const typed = (type: string, data: Json): string => event(type, { type, ...data });
const chunk = (delta: Json, rest: Json = {}): string =>
  event(null, { id: 'c1', choices: [{ index: 0, delta, finish_reason: null, ...rest }] });

interface Stream {
  readonly start: string;
  readonly delta: string;
  readonly end: (usage: Json | undefined) => string;
  readonly told: Json;
}

const streams: Readonly<Record<DialectName, Stream>> = {
  messages: {
    start: typed('message_start', { message: { id: 'msg_1', role: 'assistant', content: [] } }),
    delta: typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
    end: (usage) =>
      typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) + typed('message_stop', {}),
    told: { input_tokens: 7, output_tokens: 2 },
  },
  chat: {
    start: chunk({ role: 'assistant', content: '' }),
    delta: chunk({ content: 'Hi' }),
    end: (usage) =>
      chunk({}, { finish_reason: 'stop' }) +
      (usage ? event(null, { id: 'c1', choices: [], usage }) : '') +
      'data: [DONE]\n\n',
    told: { prompt_tokens: 7, completion_tokens: 2 },
  },
  responses: {
    start: typed('response.created', { response: { id: 'resp_1' } }),
    delta: typed('response.output_text.delta', { item_id: 'msg_1', delta: 'Hi' }),
    end: (usage) =>
      typed('response.completed', {
        response: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage },
      }),
    told: { input_tokens: 7, output_tokens: 2 },
  },
};

const TEXT = 'Größe und mehr'; // 16 bytes
const wholes: Readonly<Record<DialectName, Json>> = {
  messages: { type: 'message', role: 'assistant', content: [{ type: 'text', text: TEXT }] },
  chat: { choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }] },
  responses: {
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: TEXT }] }],
  },
};

const play = (name: DialectName, text: string, fault?: unknown) =>
  replay(name, [Buffer.from(text)], { estimatedInputTokens: ESTIMATE, fault });

for (const name of names) {
  const { start, delta, end, told } = streams[name];

  t.test(`limits 3: ${name}: a broken stream costs the estimated input and its deltas`, async (t) => {
    const seen = await play(name, start + delta.repeat(4), faults.reset);
    t.match(seen, { truncated: 1, usage: { input: ESTIMATE, output: 4 } });
  });

  t.test(`limits 3: ${name}: a stream whose client leaves costs the same`, async (t) => {
    const nothing = (): void => undefined;
    const stage = bridge(name, name).stream(
      dialects[name].read({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
      {
        shownModel: null,
        guard: null,
        usage: nothing,
        firstToken: nothing,
        truncated: nothing,
        settle: async () => creditFields,
        errorBody: () => ({}),
      },
      ESTIMATE,
    );
    await stage.feed(Buffer.from(start + delta.repeat(4)));
    stage.leave();
    t.match(stage.usage, { input: ESTIMATE, output: 4 });
  });

  t.test(`limits 3: ${name}: so does a complete one without usage, or with one that tells 0`, async (t) => {
    for (const usage of [undefined, {}, Object.fromEntries(Object.keys(told).map((key) => [key, 0]))])
      t.match(await play(name, start + delta.repeat(3) + end(usage)), {
        settled: 1,
        usage: { input: ESTIMATE, output: 3 },
      });
  });

  t.test(`limits 3: ${name}: what the upstream tells of a stream wins`, async (t) => {
    const seen = await play(name, start + delta.repeat(3) + end(told));
    t.match(seen, { settled: 1, usage: { input: 7, output: 2 } });
  });

  for (const client of names)
    t.test(`limits 3: a whole ${name} answer without usage to ${client} costs what it says`, async (t) => {
      const request = dialects[client].read({
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        input: 'hi',
      });
      const options = { shownModel: null, guard: null, estimatedInputTokens: ESTIMATE };
      const given = Buffer.from(JSON.stringify(wholes[name]));
      const whole = await bridge(client, name).whole(given, request, options);
      t.match(whole.usage, { input: ESTIMATE, output: 4 });
      if (client === name)
        t.same(JSON.parse(whole.seal(creditFields).toString()), { ...wholes[name], ...creditFields });

      const counted = Buffer.from(JSON.stringify({ ...wholes[name], usage: told }));
      t.match((await bridge(client, name).whole(counted, request, options)).usage, { input: 7, output: 2 });
    });
}

t.test('limits 3: a whole response that failed costs what its upstream tells', async (t) => {
  const failed = { object: 'response', status: 'failed', output: [], error: { code: 'server_error' } };
  const { usage } = dialects.responses.inspect(Buffer.from(JSON.stringify(failed)), ESTIMATE);
  t.match(usage, { input: 0, output: 0 });
});
