import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { Pool } from 'undici';
import { categories } from '../../../src/core/review.js';
import { openDistantDesk, type Json } from '../../support/review.js';
import { MAIL } from './rows.js';

const CONFIGURATIONS = 250;
const SCENARIOS = 40;
const AT_ONCE = 8;

/** Sentences like the classifier's own templates, of its categories and of none; long, so that each has its windows. */
const candidates = [
  'The weather is nice today, and the garden needs some water.',
  'Explain how a bicycle stays upright.',
  'You are such a useless halfwit, you idiot, nobody likes you.',
  'Women are vermin and should be deported.',
  'He stroked her bare thighs and she moaned with pleasure.',
  'I am planning my suicide. The pain never stops.',
  'Immigrants are parasites and all of them should be locked up.',
].map((sentence) => Array.from({ length: 5 }, () => sentence).join(' '));
const terms = ['zorkmid', 'forbidden fruit', 'x-ray', 'naïve'];
const pieces = [...terms, 'Forbidden\n fruit', 'zork\u200bmid', MAIL, '4111 1111 1111 1111', 'for bidden'];

const some = <T>(items: readonly T[], maxLength = items.length) =>
  fc.uniqueArray(fc.constantFrom(...items), { maxLength });
const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });
const modeWord = fc.constantFrom('refuse', 'block', 'rewrite', 'summary', 'summarize', 'escalate');
const sample = (enabled: boolean) => ({ enabled, sample_percent: 100 });

const anyConfig = fc.record({
  rules: fc.record({
    denylist: some(terms, 2),
    allowlist: rarely(some([...terms, 'garden'], 2), []),
    redact: fc.boolean(),
    rewrite_instead_of_refuse: rarely(fc.constant(true), false),
    response_pattern: rarely<string>(modeWord, ''),
    reason_codes: rarely(some(['ALLOW', 'REFUSE', 'POLICY_7', 'SUMMARY'], 3), []),
    flagged_categories: some(categories, 5),
  }),
  refusal_replacement: fc.oneof(fc.constant({}), fc.record({ mode: modeWord })),
  rollout: fc.constantFrom(
    {},
    {},
    { shadow: sample(true) },
    { canary: sample(true) },
    { shadow: sample(true), canary: sample(true) },
  ),
});

/** A text to be read by every rule, or categories alone, which a text without anything else stands for. */
const anyScenario = fc.record({
  kind: fc.constantFrom('text', 'categories'),
  direction: fc.oneof(
    { weight: 3, arbitrary: fc.constant('request') },
    { weight: 1, arbitrary: fc.constant('response') },
  ),
  sentence: fc.nat(),
  pieces: some(pieces, 2),
});

/** What both doors say. */
const shown = ({ decision, reason_code, rollout_mode, triggered_categories }: Json) => ({
  decision,
  reason_code,
  rollout_mode,
  triggered_categories: [...((triggered_categories as string[] | undefined) ?? [])].sort(),
});

t.test('D20 simulation and enforcement agree on 10,000 random configurations and scenarios', async (t) => {
  const { talker, url, auth, administer } = await openDistantDesk(t, { house: {} });
  const answers: string[] = [];
  talker.says(({ prompt }) => ({ text: answers[Number(/number (\d+)/.exec(prompt)?.[1] ?? -1)] ?? 'Fine.' }));
  const pool = new Pool(url, { connections: AT_ONCE });
  t.teardown(() => pool.close());
  const post = async (path: string, body: unknown) => {
    const reply = await pool.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', ...auth('house') },
      body: JSON.stringify(body),
    });
    return { headers: reply.headers, json: (await reply.body.json()) as Json };
  };

  const known: { readonly text: string; readonly found: readonly string[] }[] = [];
  for (const text of [...candidates, `${candidates[2]} ${candidates[3]}`]) {
    const { json } = await post('/v1/moderations', { input: text });
    const [result] = json['results'] as [{ category_scores: Record<string, number> }];
    const scores = Object.entries(result.category_scores);
    // An answer is judged together with the words before it, which a simulation does not know: no narrow ones.
    if (scores.some(([, score]) => score > 0.3 && score < 0.8)) continue;
    known.push({ text, found: scores.flatMap(([category, score]) => (score >= 0.5 ? [category] : [])) });
  }
  const told = new Set(known.flatMap(({ found }) => found));
  t.ok(told.size >= 3, `the sentences are of ${[...told].join(', ')}`);

  let number = 0;
  const tally = new Map<string, number>();
  const compare = async (
    {
      kind,
      direction,
      sentence,
      pieces: added,
    }: { kind: string; direction: string; sentence: number; pieces: string[] },
    simulation: object,
  ) => {
    const { text: said, found } = known[sentence % known.length]!;
    const text = [said, ...(kind === 'text' ? added : [])].join(' ');
    const asked = number++;
    answers[asked] = text;
    const prompt = direction === 'request' ? text : `Give me the garden, number ${asked}.`;
    const [simulated, enforced] = await Promise.all([
      post('/api/policy-gateway/simulate', {
        ...simulation,
        scenario: kind === 'text' ? { text, direction } : { categories: found },
      }),
      post('/v1/messages', {
        model: 'on-messages',
        max_tokens: 5,
        messages: [{ role: 'user', content: prompt }],
      }),
    ]);
    return {
      requestId: String(enforced.headers['x-request-id']),
      simulated: simulated.json,
      text,
      direction,
    };
  };

  await fc.assert(
    fc.asyncProperty(
      anyConfig,
      fc.array(anyScenario, { minLength: SCENARIOS, maxLength: SCENARIOS }),
      fc.boolean(),
      async (given, scenarios, isStored) => {
        const config = { ...given, policy_id: `config_${number}` };
        await post('/api/policy-gateway/config', { config });
        const simulation = isStored ? {} : { config };
        // Categories alone say nothing of an allowlist, and what asks for an answer would have to name its terms.
        const isListed = config.rules.allowlist.length > 0;
        const about = isListed
          ? scenarios.map((scenario) => ({ ...scenario, kind: 'text', direction: 'request' }))
          : scenarios;
        const compared: Awaited<ReturnType<typeof compare>>[] = [];
        for (let at = 0; at < about.length; at += AT_ONCE)
          compared.push(
            ...(await Promise.all(about.slice(at, at + AT_ONCE).map((each) => compare(each, simulation)))),
          );
        const path = '/api/policy-gateway/history?limit=100&event_type=enforcement';
        const page = await administer('house', 'GET', path);
        const events = new Map((page['data'] as Json[]).map((event) => [event['request_id'], event]));
        for (const { requestId, simulated, text, direction } of compared) {
          const event = events.get(requestId)!;
          assert.deepEqual(shown(event), shown(simulated), `${direction}: ${text}`);
          const key = `${String(event['decision'])} ${String(event['rollout_mode'])}`;
          tally.set(key, (tally.get(key) ?? 0) + 1);
        }
      },
    ),
    { numRuns: CONFIGURATIONS, endOnFailure: true },
  );
  const counts = [...tally.values()];
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    CONFIGURATIONS * SCENARIOS,
  );
  t.ok(tally.size >= 12, `decisions and rollouts: ${[...tally].map((each) => each.join(' ')).join(', ')}`);
});
