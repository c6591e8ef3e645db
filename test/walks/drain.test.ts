import t from 'tap';
import { runGateway, until, type Running } from '../support/gateway.js';

const slow = {
  providers: { sim: { kind: 'simulator' as const, ttft: '0ms', tokens_per_second: 20 } },
};
const ask = (content: string) => ({
  model: 'sim-small',
  max_tokens: 1_000,
  stream: true,
  messages: [{ role: 'user', content }],
});

/** Opens a stream and gives its first piece and the rest, to be awaited. */
const begin = async ({ post }: Running, content: string) => {
  const response = await post('/v1/messages', ask(content));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const first = (await reader.read()).value!;
  const rest = (async () => {
    let text = first;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
  })();
  return { rest };
};

t.test('6.4 while draining, /readyz is 503 and a stream under way runs to its end', async (t) => {
  const running = await runGateway(t, { ...slow, server: { port: 0, admin_port: 0 } });
  const { rest } = await begin(running, '[[tokens=20]]');
  const drained = running.gateway.drain();
  const probe = `http://127.0.0.1:${running.gateway.adminAddress!.port}/readyz`;
  await until(async () => (await fetch(probe)).status === 503, 'not ready');
  await t.rejects(running.post('/v1/messages', ask('hi')), 'nothing new is accepted');
  const text = await rest;
  await drained;
  t.match(text, /event: message_stop/);
});

t.test('6.4 a stream that outlives the grace ends with the error of its format', async (t) => {
  const running = await runGateway(t, { ...slow, server: { port: 0, drain: { grace: '50ms' } } });
  const { rest } = await begin(running, '[[tokens=500]]');
  await running.gateway.drain();
  const text = await rest;
  t.match(text, /event: error\ndata: .*shutting down/);
  t.notMatch(text, /message_stop/);
});

t.test('6.4 draining without requests is over at once, and twice is once', async (t) => {
  const { gateway } = await runGateway(t);
  await Promise.all([gateway.drain(), gateway.drain()]);
  t.pass();
});
