import t from 'tap';
import { EngineUnavailable, type Engine } from '../../../src/rules/moderation/engine.js';
import { createLayeredEngine } from '../../../src/rules/moderation/layered.js';
import { createHttpEngine, type SendRequest } from '../../../src/rules/moderation/remote.js';
import { engine as embedded } from './setting.js';

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
  readonly timeoutMs: number;
}

const serve = (answer: unknown, status = 200): { request: SendRequest; sent: Sent[] } => {
  const sent: Sent[] = [];
  const request: SendRequest = async (url, headers, body, _signal, timeoutMs) => {
    sent.push({ url, headers, body: JSON.parse(body) as Record<string, unknown>, timeoutMs });
    if (answer instanceof Error) throw answer;
    return { status, body: typeof answer === 'string' ? answer : JSON.stringify(answer) };
  };
  return { request, sent };
};

const moderations = (answer: unknown, status = 200) => {
  const { request, sent } = serve(answer, status);
  const options = {
    url: 'http://mod.example/v1/moderations',
    apiKey: 'k',
    kind: 'moderations',
    timeoutMs: 500,
  } as const;
  return { engine: createHttpEngine({ ...options, request }), sent };
};

const guard = (content: string, logprobs: unknown = null) => {
  const { request, sent } = serve({ choices: [{ message: { content }, logprobs }] });
  const options = {
    url: 'http://guard.example/v1/chat/completions',
    apiKey: '',
    kind: 'guard',
    timeoutMs: 900,
  } as const;
  return { engine: createHttpEngine({ ...options, model: 'guard-x', request }), sent };
};

t.test('an OpenAI-shaped service is asked once and its categories keep their names', async (t) => {
  const { engine, sent } = moderations({
    results: [
      {
        categories: { hate: false, 'hate/threatening': true, sexual: false, 'sexual/minors': true },
        category_scores: {
          hate: 0.2,
          'hate/threatening': 0.3,
          sexual: 0.7,
          'sexual/minors': 0.9,
          violence: 0.6,
          new: 1,
        },
      },
    ],
  });
  const scores = await engine.judge('some text');
  t.same(sent, [
    {
      url: 'http://mod.example/v1/moderations',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer k' },
      body: { model: 'omni-moderation-latest', input: 'some text' },
      timeoutMs: 500,
    },
  ]);
  t.equal(scores.get('hate/threatening'), 0.5, 'what the service flags is at the threshold at least');
  t.equal(scores.get('hate'), 0.5, 'and counts for the category above');
  t.equal(scores.get('sexual'), 0.499, 'what it does not flag stays below');
  t.equal(scores.get('sexual/minors'), 0.9);
  t.equal(scores.get('violence'), 0.6);
  t.notOk([...scores.keys()].includes('new' as never), 'an unknown category is left out');
});

t.test('a guard model says safe, or unsafe and why', async (t) => {
  const { engine, sent } = guard('\n\nunsafe\nS1,S10');
  const scores = await engine.judge('text');
  t.match(sent[0], {
    body: { model: 'guard-x', messages: [{ role: 'user', content: 'text' }], logprobs: true },
  });
  t.notOk('authorization' in sent[0]!.headers);
  t.same(
    [...scores].filter(([, score]) => score >= 0.5).map(([category]) => category),
    ['illicit', 'hate'],
  );
  const calm = await guard('safe').engine.judge('text');
  t.ok([...calm.values()].every((score) => score < 0.5));
});

t.test('the probability of the first word is the score', async (t) => {
  const first = {
    content: [
      { token: '\n\n', logprob: 0 },
      {
        token: 'unsafe',
        logprob: Math.log(0.6),
        top_logprobs: [
          { token: 'unsafe', logprob: Math.log(0.6) },
          { token: 'safe', logprob: Math.log(0.2) },
        ],
      },
    ],
  };
  const scores = await guard('unsafe\nS11', first).engine.judge('text');
  t.ok(Math.abs(scores.get('self-harm')! - 0.75) < 1e-9);
  t.equal(scores.get('sexual'), 0);
  t.equal(
    (await guard('unsafe\nS99').engine.judge('text')).get('illicit'),
    0,
    'a hazard without a home is none of ours',
  );
});

t.test('whatever is no verdict makes the engine unavailable', async (t) => {
  await t.rejects(moderations(new Error('connect ECONNREFUSED')).engine.judge('x'), EngineUnavailable);
  await t.rejects(moderations({ results: [] }).engine.judge('x'), EngineUnavailable);
  await t.rejects(moderations('<html>').engine.judge('x'), EngineUnavailable);
  await t.rejects(moderations({}, 500).engine.judge('x'), { message: /status 500/ });
  await t.rejects(guard('I would rather not say').engine.judge('x'), EngineUnavailable);
});

t.test('who leaves does not make the service unavailable', async (t) => {
  const { engine } = moderations(new Error('aborted'));
  const signal = AbortSignal.abort();
  await t.rejects(engine.judge('x', { signal }), { name: 'AbortError' });
});

t.test('the embedded engine is the floor of a remote one', async (t) => {
  const text = 'I want to kill myself tonight, I have a plan to end my life.';
  const { engine: remote } = moderations({
    results: [{ category_scores: { 'self-harm': 0.01, hate: 0.8 } }],
  });
  const own = await embedded.judge(text);
  const scores = await createLayeredEngine({ floor: embedded, remote, onError: 'block' }).judge(text);
  t.equal(scores.get('self-harm'), own.get('self-harm'));
  t.equal(scores.get('hate'), 0.8);
});

t.test('without the remote engine, the operator says whether the floor is enough', async (t) => {
  const failures: string[] = [];
  const layer = (onError: 'block' | 'allow'): Engine =>
    createLayeredEngine({
      floor: embedded,
      remote: moderations({}, 503).engine,
      onError,
      onUnavailable: ({ message }) => failures.push(message),
    });
  await t.rejects(layer('block').judge('hello'), EngineUnavailable);
  t.same(await layer('allow').judge('hello'), await embedded.judge('hello'));
  t.equal(failures.length, 2);
});
