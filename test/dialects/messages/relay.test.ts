import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0x';
import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../src/core/errors.js';
import { messagesDialect } from '../../../src/dialects/messages/dialect.js';
import { EVENT_BOUND_BYTES } from '../../../src/io/sse/scan.js';
import { creditFields, cutInto, goldenBytes, goldens, replay } from '../../golden/replay.js';

const textGolden = goldens.find(({ dialect, name }) => dialect === 'messages' && name === 'text')!;
const text = goldenBytes(textGolden, 'in');

t.test('a chunk of plain text leaves as the very buffer that came', async (t) => {
  const stage = messagesDialect.relay(
    messagesDialect.read({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
    {
      shownModel: null,
      guard: null,
      usage: () => undefined,
      firstToken: () => undefined,
      settle: async () => creditFields,
      errorBody: () => ({}),
      truncated: () => undefined,
    },
    0,
  );
  const start = text.subarray(0, text.indexOf('event: message_delta'));
  t.equal(stage.feed(start), start);
  const delta = Buffer.from(
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n',
  );
  t.equal(stage.feed(delta), delta);
  t.equal(stage.done, false);
});

t.test('D39 the source waits while the account is settled, and the ending follows', async (t) => {
  let settle = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (settle = resolve));
  const stage = messagesDialect.relay(
    messagesDialect.read({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
    {
      shownModel: null,
      guard: null,
      usage: () => undefined,
      firstToken: () => undefined,
      settle: async () => {
        await waiting;
        return creditFields;
      },
      errorBody: () => t.fail('no error was due') as never,
      truncated: () => t.fail('nothing was cut'),
    },
    0,
  );
  const out = stage.feed(text);
  t.type(out, Promise);
  t.equal(stage.done, false);
  t.equal(stage.fail(new Error('reset')), null, 'a connection that breaks meanwhile changes nothing');
  t.equal(stage.end(), null);
  t.equal(stage.feed(text), null);
  settle();
  t.equal(String(await out), goldenBytes(textGolden, 'out').toString());
  t.equal(stage.done, true);
});

t.test('a settlement that fails ends the stream in an error, not in a success', async (t) => {
  const seen = await replay('messages', [text], {
    settle: async () => {
      throw new GatewayError('store_unavailable', 'The store does not answer.');
    },
  });
  t.match(seen, { done: true, settled: 1, truncated: 1 });
  t.match(seen.output.toString(), /event: error\ndata: .*"code":"store_unavailable"/);
  t.notMatch(seen.output.toString(), /message_stop/);
});

t.test('a gateway that stops says so', async (t) => {
  const seen = await replay('messages', [text.subarray(0, 700)], {
    fault: new GatewayError('shutting_down', 'The gateway is stopping.'),
  });
  t.match(seen.output.toString(), /event: error\ndata: .*"code":"shutting_down".*\n\n$/);
});

t.test('D50 an event over 8 MiB ends the stream in an error, behind what came before it', async (t) => {
  const head = text.subarray(0, text.indexOf('event: content_block_delta'));
  const large = Buffer.from(
    `event: content_block_delta\ndata: {"text":"${'x'.repeat(EVENT_BOUND_BYTES)}"}\n\n`,
  );
  for (const length of [Infinity, 65_536]) {
    const seen = await replay('messages', cutInto(Buffer.concat([head, large]), [length]));
    t.ok(seen.output.subarray(0, head.length).equals(head));
    t.match(
      seen.output.subarray(head.length).toString(),
      /^event: error\ndata: .*larger than 8388608 bytes.*\n\n$/,
    );
    t.match(seen, { truncated: 1, settled: 0, done: true });
  }
});

t.test('any bytes end in exactly one ending', async () => {
  const events = text.toString().split(/(?<=\n\n)/);
  const part = fc.oneof(
    fc.constantFrom(
      ...events,
      '\n',
      '\r',
      'data: [DONE]\n\n',
      'data: {}\n\n',
      'data: null\n\n',
      'event: error\n\n',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 20 }),
      fc.integer({ min: 1, max: 300 }),
      async (parts, length) => {
        const seen = await replay('messages', cutInto(Buffer.from(parts.join('')), [length]));
        const endings = seen.output.toString().split(/^event: (?:message_stop|error)$/m).length - 1;
        return seen.done && seen.settled + seen.truncated === 1 && endings === 1;
      },
    ),
    { numRuns: 500 },
  );
});

const answering = (bytes: Buffer) => () =>
  Promise.resolve(new Response(new Uint8Array(bytes), { headers: { 'content-type': 'text/event-stream' } }));

const ask = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };

const clients: Readonly<Record<string, (bytes: Buffer) => Promise<unknown>>> = {
  'the current Anthropic SDK': (bytes) =>
    new Anthropic({ apiKey: 'x', maxRetries: 0, fetch: answering(bytes) }).messages
      .stream(ask)
      .finalMessage(),
  'an old Anthropic SDK': (bytes) =>
    new OldAnthropic({ apiKey: 'x', maxRetries: 0, fetch: answering(bytes) }).messages
      .stream(ask)
      .finalMessage(),
};

for (const [name, finalMessage] of Object.entries(clients)) {
  t.test(`${name} reads every relayed stream to its end or to its error`, async (t) => {
    for (const one of goldens.filter(({ dialect }) => dialect === 'messages')) {
      const bytes = goldenBytes(one, 'out');
      if (one.ending === 'truncated') await t.rejects(finalMessage(bytes), one.name);
      else t.match(await finalMessage(bytes), { role: 'assistant', stop_reason: String }, one.name);
    }
  });
}
