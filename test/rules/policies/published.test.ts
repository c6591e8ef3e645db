import t from 'tap';
import { createRuleCompiler } from '../../../src/rules/policies/compiler.js';
import { compilePublished, compilePublishedSlowly } from '../../../src/rules/policies/published.js';
import { readPublished } from '../../../src/rules/policies/published-policy.js';
import { OVERLAP_CHARS, WINDOW_CHARS } from '../../../src/rules/policies/policy-set.js';
import { piece, published, subject } from './published-policies.js';

const record = (state: string, mode = 'enforcing') => ({
  id: 'pol_a',
  revision: 1,
  value: {
    name: 'No zebras',
    description: '',
    state,
    draft: { ...terms(mode), base_version: 3 },
    published: state === 'draft' ? null : { ...terms(mode), version: 3, published_at: 20 },
    created_at: 10,
    updated_at: 20,
  },
});

const terms = (mode: string) => ({
  rule: 'cel:text.contains("zebra")',
  direction: 'both',
  mode,
  scope: 'projects',
  project_ids: ['proj_a', 'proj_b'],
  match_threshold_basis_points: null,
});

t.test('D32 what acts is the published version of a policy that is neither draft nor paused', async (t) => {
  t.equal(readPublished(record('draft')), null);
  t.equal(readPublished(record('paused')), null);
  t.match(readPublished(record('monitoring', 'monitoring')), { mode: 'monitoring', version: 3 });
  t.strictSame(readPublished(record('enforcing')), {
    id: 'pol_a',
    name: 'No zebras',
    version: 3,
    rule: 'cel:text.contains("zebra")',
    direction: 'both',
    mode: 'enforcing',
    scope: 'projects',
    projectIds: ['proj_a', 'proj_b'],
    thresholdBasisPoints: 5_000,
    createdAt: 10,
  });
});

t.test('D30 a policy matches from its threshold on, 5000 basis points where it has none', async (t) => {
  const score = 'cel:text.contains("zebra") ? 0.57 : 0.0';
  const found = (thresholdBasisPoints: number) =>
    compilePublished([published(score, { thresholdBasisPoints })]).evaluate(subject, piece('a zebra'));
  t.match(found(5_000), [{ score: 0.57, matched: true }]);
  t.equal(found(5_700).length, 1, '0.57 is 5700');
  t.equal(found(5_701).length, 0);
  t.match(compilePublished([published('cel:true')]).evaluate(subject, piece('x')), [{ score: 1 }]);
  t.match(compilePublished([published('cel:tokens > 3 ? 7.5 : 0.0')]).evaluate(subject, piece('x')), [
    { score: 1 },
  ]);
});

t.test(
  'D30 scope and direction decide who is read, and findings stand in the order of creation',
  async (t) => {
    const rule = 'cel:text.contains("zebra")';
    const set = compilePublished([
      published(rule, { name: 'young', createdAt: 30 }),
      published(rule, { name: 'project', createdAt: 20, scope: 'projects', projectIds: ['proj_b'] }),
      published(rule, { name: 'answers', createdAt: 15, direction: 'response', mode: 'monitoring' }),
      published('cel:tokens > 1', {
        name: 'unfiltered',
        createdAt: 10,
        scope: 'projects',
        projectIds: ['proj_b'],
      }),
      published(rule, { name: 'unattached', createdAt: 5, scope: 'unattached' }),
    ]);
    const names = (who: Partial<typeof subject>, direction: 'request' | 'response' = 'request') =>
      set.evaluate({ ...subject, ...who }, piece('a zebra', { direction })).map(({ name }) => name);
    t.strictSame(names({}), ['young']);
    t.strictSame(names({ projectId: 'proj_b' }), ['unfiltered', 'project', 'young']);
    t.strictSame(names({ projectId: null }), ['young']);
    t.strictSame(names({}, 'response'), ['answers', 'young']);
    t.strictSame(
      names({ isSimulated: true }),
      ['unattached', 'young'],
      'a simulation asks the unattached ones',
    );
    t.equal(set.size, 5);
  },
);

t.test('D30 what reads an answer is known before the answer comes', async (t) => {
  const rule = 'cel:text.contains("zebra")';
  const reads = (...policies: ReturnType<typeof published>[]) =>
    compilePublished(policies).readsAnswers(subject);
  t.equal(reads(), 'no');
  t.equal(reads(published(rule, { direction: 'request' })), 'no');
  t.equal(reads(published(rule, { scope: 'unattached' })), 'no');
  t.equal(reads(published(rule, { mode: 'monitoring' })), 'monitoring');
  t.equal(reads(published(rule, { mode: 'monitoring' }), published('Prose.')), 'enforcing');
  const set = compilePublished([published('Prose.', { direction: 'response' })]);
  t.equal(set.hasProse('response'), true);
  t.equal(set.hasProse('request'), false);
  t.equal(set.readsProse(subject, 'response'), 'enforcing');
  t.equal(set.readsProse(subject, 'request'), 'no');
});

t.test('D29 an expression reads who sends what, and what others found in it', async (t) => {
  const set = compilePublished([
    published(
      'cel:project_id == "proj_app" && model == "claude-x" && user == "kim" && endpoint == "/v1/messages" && direction == "response" && categories["hate"] > 0.5 && "term" in terms && tokens == 7',
    ),
  ]);
  const full = piece('x', {
    direction: 'response',
    categories: new Map([['hate', 0.9]]),
    terms: ['term'],
    tokens: 7,
  });
  t.equal(set.evaluate(subject, full).length, 1);
  t.equal(set.evaluate({ ...subject, user: null }, full).length, 0);
});

t.test(
  'D29 an expression that fails on what it reads matches nothing, is told, and harms no other',
  async (t) => {
    const faults: string[] = [];
    const [broken, whole] = [published('cel:terms[0] == "x"'), published('cel:true')];
    const set = compilePublished([broken, whole], { onFault: (id) => faults.push(id) });
    t.strictSame(
      set.evaluate(subject, piece('x')).map(({ id }) => id),
      [whole.id],
    );
    t.strictSame(faults, [broken.id]);
    const again = compilePublished([published('cel:nonsense('), whole], { onFault: (id) => faults.push(id) });
    t.equal(again.size, 1, 'one that cannot be compiled is left out');
    t.equal(faults.length, 2);
  },
);

t.test('D29 a long text is read in overlapping windows: whatever fits the overlap is found', async (t) => {
  const literal = `<${'n'.repeat(15_000)}>`;
  const [short, long] = [
    published('cel:text.matches("needle-[0-9]+")'),
    published(`cel:text.contains("${literal}")`),
  ];
  const set = compilePublished([short, long]);
  const step = WINDOW_CHARS - OVERLAP_CHARS;
  for (const at of [0, step - 5, step, WINDOW_CHARS - 5, WINDOW_CHARS, 2 * step + 3, 200_000]) {
    const text = (what: string) => `${'. '.repeat(at / 2)}${what}${' .'.repeat(50_000)}`;
    t.strictSame(
      (await set.evaluateSlowly(subject, piece(text('needle-42')))).map(({ id }) => id),
      [short.id],
    );
    t.strictSame(
      set.evaluate(subject, piece(text(literal))).map(({ id }) => id),
      [long.id],
    );
  }
});

t.test('D29 slowly and at once find the same, also where patterns take long', async (t) => {
  const evil = 'cel:text.matches("(a|b)*a(a|b){200}c") || text.matches("(x+x+)+y")';
  const set = compilePublished([
    published(evil),
    published('cel:terms.exists(t, t.matches("(a|b)*b{40}$"))'),
  ]);
  const text = Array.from({ length: 3_000 }, (_, n) => (((n * 2_654_435_761) >>> 13) & 1 ? 'a' : 'b')).join(
    '',
  );
  const cases = [
    piece(text),
    piece(`${text}a${'b'.repeat(200)}c`),
    piece('x', { terms: [text, `${text}${'b'.repeat(40)}`] }),
  ];
  const found = cases.map((one) => set.evaluate(subject, one).length);
  t.strictSame(found, [0, 1, 1]);
  for (const [index, one] of cases.entries())
    t.equal((await set.evaluateSlowly(subject, one)).length, found[index]);
});

t.test('D32 a set that is compiled anew takes over the rules that stayed', async (t) => {
  const compiler = createRuleCompiler();
  t.teardown(() => compiler.close());
  let compiled = 0;
  const counting = {
    ...compiler,
    compile: (rule: string, threshold?: number) => (compiled++, compiler.compile(rule, threshold)),
  };
  const [one, two] = [published('cel:text.contains("one")'), published('cel:text.contains("two")')];
  const first = await compilePublishedSlowly([one, two], counting);
  const second = await compilePublishedSlowly(
    [
      { ...one, version: 2, mode: 'monitoring' },
      { ...two, rule: 'cel:text.contains("three")' },
    ],
    counting,
    { previous: first },
  );
  t.equal(compiled, 3);
  t.match(second.evaluate(subject, piece('one two three')), [
    { version: 2, mode: 'monitoring' },
    { id: two.id },
  ]);
  t.equal(second.evaluate(subject, piece('two')).length, 0);
});
