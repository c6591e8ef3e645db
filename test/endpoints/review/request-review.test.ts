import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { createInspect } from '../../../src/endpoints/review/inspect.js';
import { reviewRequest } from '../../../src/endpoints/review/request-review.js';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import type { Engine } from '../../../src/rules/moderation/engine.js';
import { compilePublished } from '../../../src/rules/policies/published.js';
import { compileConfig } from '../../../src/rules/policy-gateway/compile.js';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import { standings } from '../../../src/rules/policy-gateway/rollout.js';
import { createRedactor } from '../../../src/text/redact.js';

const engine = { judge: () => Promise.resolve(new Map()) } as unknown as Engine;

const review = async (dialect: DialectName, body: Json, rules: object) => {
  const scene = {
    compiled: await compileConfig(readConfig({ rules })),
    policies: compilePublished([]),
    standing: standings.enforced,
    subject: { projectId: 'proj_1', model: 'm', endpoint: '/v1/messages', user: null },
    flagged: [],
  };
  const inspect = createInspect({
    engine,
    threshold: () => 0.5,
    judge: null as never,
    onJudgeError: 'open',
    onUnavailable: () => undefined,
  });
  const request = { body, model: 'm', flaggedCategories: [] } as never;
  return reviewRequest(dialect, request, scene, createRedactor(), inspect, new AbortController().signal);
};

/** How often others had their turn while it ran. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let done = false;
  const finished = work.finally(() => (done = true));
  while (!done) {
    await setImmediate();
    turns++;
  }
  await finished;
  return turns;
};

t.test('D31 a request of very many short texts does not hold up others', async (t) => {
  const content = Array.from({ length: 100_000 }, (_, n) => ({ type: 'text', text: `word ${n % 7}` }));
  const body = { messages: [{ role: 'user', content }] };
  t.ok((await turnsDuring(review('messages', body, {}))) > 10, 'while they are read');
  const { length } = content;
  const redacting = await turnsDuring(review('messages', body, { redact: true }));
  t.ok(redacting > 20, `while they are masked: ${redacting} turns for ${length}`);
});

const called = (args: string): Json => ({
  messages: [
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'pay', arguments: args } }],
    },
  ],
});

t.test("D17 a request's calls stay JSON when they are masked", async (t) => {
  const given = '{"card":4111111111111111,"alice@example.com":"bob\\u0040example.com"}';
  const masked = '{"card":"[CARD_1]","[EMAIL_1]":"[EMAIL_2]"}';
  t.match((await review('chat', called(given), { redact: true })).request.body, called(masked));
  const item = (args: string): Json => ({ input: [{ type: 'function_call', name: 'pay', arguments: args }] });
  t.match((await review('responses', item(given), { redact: true })).request.body, item(masked));
});

t.test("D19 a request's calls are read by what they say, however they are spelt", async (t) => {
  const rules = { denylist: ['zorkmid'] };
  t.match((await review('chat', called('{"q":"\\u007aorkmid"}'), rules)).judgement, { effective: 'refuse' });
  t.match((await review('chat', called('{"q":"\\u0061orkmid"}'), rules)).judgement, { effective: 'allow' });
});

t.test('D19 what is read but cannot be changed is not said to be masked', async (t) => {
  const block = { type: 'tool_use', id: 't', name: 'pay', input: { 'alice@example.com': 'now' } };
  const body = { messages: [{ role: 'assistant', content: [block] }] };
  const { judgement, request } = await review('messages', body, { redact: true });
  t.equal(request.body, body);
  t.equal(judgement.redactions, 0);
  t.same(judgement.matches, []);
  t.match((await review('messages', body, { denylist: ['alice@example.com'] })).judgement, {
    effective: 'refuse',
  });
});
