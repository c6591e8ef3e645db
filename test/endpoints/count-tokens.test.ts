import { PassThrough } from 'node:stream';
import t from 'tap';
import type { Call } from '../../src/core/exchange.js';
import { silentLog } from '../../src/core/log.js';
import { defaultFlags } from '../../src/core/upstream-flags.js';
import { createCountTokens, type CountParts } from '../../src/endpoints/count-tokens.js';
import { Breakers } from '../../src/io/upstream/breaker.js';
import { UpstreamFault, type Provider } from '../../src/io/upstream/provider.js';
import { Catalog } from '../../src/rules/models/catalog.js';

const price = { inputPerMtok: 0, outputPerMtok: 0, cacheReadPerMtok: 0, cacheWritePerMtok: 0 };
const target = { provider: 'up', upstreamModel: null, weight: 1, flags: defaultFlags, messagesPath: null };
const catalog = new Catalog([
  { name: 'm', aliases: [], listed: [], targets: [target], fallbacks: [], maxOutputTokens: 9, price },
]);

const callWith = (signal: AbortSignal): Call =>
  ({
    requestId: 'req_1',
    headers: {},
    principal: { models: null },
    body: { model: 'm', messages: [{ role: 'user', content: 'abcdefgh' }] },
    signal,
    meter: { model: null, provider: null, upstreamWaitMs: 0 },
  }) as unknown as Call;

const count = (
  send: Provider['send'],
  more: Partial<CountParts> = {},
  signal = new AbortController().signal,
) => {
  const provider: Provider = {
    name: 'up',
    kind: 'anthropic',
    attempts: 3,
    send,
    close: async () => undefined,
  };
  const parts: CountParts = {
    catalog,
    providers: new Map([['up', provider]]),
    breakers: new Breakers(),
    attempted: () => undefined,
    ticksMs: () => 0,
    tokenizer: { count: async () => null, close: async () => undefined },
    log: silentLog,
    ...more,
  };
  return createCountTokens(parts)(callWith(signal));
};

/** Never answers; breaks off when it is called off, as every provider does. */
const hangs: Provider['send'] = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new UpstreamFault('aborted', 'Called off.')));
  });

t.test('D41 a counter that takes too long is called off, and counts as failing', async (t) => {
  const attempts: unknown[] = [];
  const reply = await count(hangs, { counterMs: 5, attempted: ({ outcome }) => attempts.push(outcome) });
  t.match(reply, { body: { input_tokens: 9 }, headers: { 'x-token-count': 'estimate' } });
  t.same(attempts, ['timeout'], 'once: nobody waits for a second try');
});

t.test('D41 a counter that begins to answer and stops is called off too', async (t) => {
  const body = new PassThrough();
  const reply = await count(
    async ({ signal }) => {
      signal.addEventListener('abort', () => body.destroy(new UpstreamFault('aborted', 'Called off.')));
      body.write('{"input_');
      return { status: 200, headers: {}, body };
    },
    { counterMs: 5 },
  );
  t.match(reply, { headers: { 'x-token-count': 'estimate' } });
  t.equal(body.destroyed, true);
});

t.test('D41 a client that leaves calls the counter off, which is not blamed for it', async (t) => {
  const abort = new AbortController();
  const attempts: unknown[] = [];
  const counting = count(hangs, { attempted: ({ outcome }) => attempts.push(outcome) }, abort.signal);
  abort.abort();
  await counting;
  t.same(attempts, ['aborted']);
});

t.test('D41 without a tokenizer a count is made by bytes', async (t) => {
  const reply = await count(async () => Promise.reject(new UpstreamFault('connect', 'Nobody there.')));
  t.match(reply, { status: 200, body: { input_tokens: 2 + 7 }, headers: { 'x-token-count': 'estimate' } });
});
