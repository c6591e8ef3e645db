import fc from 'fast-check';
import t, { type Test } from 'tap';
import { openDesk, stores, type Answer, type Ask, type Desk } from './desk.js';

/** A policy as the decisions describe it, in the plainest words: what the gateway is compared with. */
interface Model {
  name: string;
  draft: Terms;
  base: number | null;
  versions: Terms[];
  state: string;
  revision: number;
}

interface Terms {
  rule: string;
  mode: string;
  scope: string;
  projects: string[];
  threshold: number | null;
}

interface Step {
  readonly kind: 'create' | 'patch' | 'publish' | 'pause' | 'resume' | 'restore' | 'delete';
  readonly which: number;
  /** Who asks; each client goes by the revision it saw last. */
  readonly client: number;
  readonly patch: Readonly<Record<string, unknown>>;
  readonly version: number;
}

const STEPS = 50;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind'][]>(
      'create',
      'patch',
      'patch',
      'patch',
      'publish',
      'publish',
      'publish',
      'pause',
      'resume',
      'restore',
      'delete',
    ),
    which: fc.nat(3),
    client: fc.nat(2),
    patch: fc.record(
      {
        name: fc.constantFrom('One', 'Two', null),
        rule: fc.constantFrom('A.', 'B.', 'cel:tokens > 3', null),
        mode: fc.constantFrom('monitoring', 'enforcing', null),
        scope: fc.constantFrom('organization', 'projects', 'projects', null),
        project_ids: fc.constantFrom([], ['a'], ['a', 'b'], ['b', 'a'], null),
        match_threshold_basis_points: fc.constantFrom(1, 9_999, null),
      },
      { requiredKeys: [] },
    ),
    version: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: STEPS, maxLength: STEPS + 20, size: 'max' },
);

const key = ({ rule, mode, scope, projects, threshold }: Terms): string =>
  JSON.stringify([rule, mode, scope, [...projects].sort(), threshold]);

const isUnpublished = ({ draft, versions }: Model): boolean => {
  const last = versions.at(-1);
  return !last || key(last) !== key(draft);
};

/** What the step should answer: the expected code, having changed the model where it is a success. */
const apply = (model: Model, step: Step, revision: number): string => {
  if (revision !== model.revision) return 'revision_conflict';
  const { draft } = model;
  const before = JSON.stringify([model.name, key(draft), model.base]);
  switch (step.kind) {
    case 'patch': {
      const { patch } = step;
      model.name = (patch['name'] as string | null | undefined) ?? model.name;
      model.draft = {
        rule: (patch['rule'] as string | null | undefined) ?? draft.rule,
        mode: (patch['mode'] as string | null | undefined) ?? draft.mode,
        scope: (patch['scope'] as string | null | undefined) ?? draft.scope,
        projects: (patch['project_ids'] as string[] | null | undefined) ?? draft.projects,
        threshold:
          'match_threshold_basis_points' in patch
            ? (patch['match_threshold_basis_points'] as number | null)
            : draft.threshold,
      };
      if (JSON.stringify([model.name, key(model.draft), model.base]) !== before) model.revision++;
      return 'ok';
    }
    case 'publish':
      if (!isUnpublished(model)) return 'no_unpublished_changes';
      if ((draft.scope === 'projects') !== draft.projects.length > 0) return 'invalid_parameter';
      model.versions.push({ ...draft });
      model.base = model.versions.length;
      if (model.state !== 'paused') model.state = draft.mode;
      break;
    case 'pause':
      if (model.state !== 'monitoring' && model.state !== 'enforcing') return 'policy_not_active';
      model.state = 'paused';
      break;
    case 'resume':
      if (model.state !== 'paused') return 'policy_not_paused';
      model.state = model.versions.at(-1)!.mode;
      break;
    case 'restore': {
      const old = model.versions[step.version - 1];
      if (!old) return 'not_found';
      model.draft = { ...old };
      model.base = step.version;
      if (JSON.stringify([model.name, key(model.draft), model.base]) !== before) model.revision++;
      return 'ok';
    }
    default:
      return 'ok';
  }
  model.revision++;
  return 'ok';
};

const send = (ask: Ask, id: string, revision: number, { kind, patch, version }: Step): Promise<Answer> => {
  if (kind === 'patch') return ask('PATCH', `/policies/${id}`, { revision, ...patch });
  if (kind === 'delete') return ask('DELETE', `/policies/${id}?revision=${revision}`);
  const more = kind === 'restore' ? { version } : {};
  return ask('POST', `/policies/${id}/${kind}`, { revision, ...more });
};

const show = (model: Model) => ({
  name: model.name,
  state: model.state,
  revision: model.revision,
  current_version: model.versions.length || null,
  has_unpublished_changes: isUnpublished(model),
  draft: { rule: model.draft.rule, mode: model.draft.mode, base_version: model.base },
});

const drive = async (t: Test, desk: Desk, sequence: readonly Step[]): Promise<void> => {
  const models = new Map<string, Model>();
  const deleted: string[] = [];
  /** The revision each client saw last, by client and policy. */
  const seen = new Map<string, number>();
  const fail = (message: string): never => {
    throw new Error(message);
  };
  for (const [at, step] of sequence.entries()) {
    const ids = [...models.keys()];
    if (step.kind === 'create' || ids.length === 0) {
      const made = await desk.create();
      const { rule, mode, scope } = made.draft;
      const draft = { rule, mode, scope, projects: [], threshold: null };
      models.set(made.id, { name: made.name, draft, base: null, versions: [], state: 'draft', revision: 1 });
      continue;
    }
    const id = ids[step.which % ids.length]!;
    const model = models.get(id)!;
    const view = `${step.client} ${id}`;
    const revision = seen.get(view) ?? model.revision;
    const sent = await send(desk.ask, id, revision, step);
    // A version is looked for before the revision is.
    const unknown = step.kind === 'restore' && !model.versions[step.version - 1];
    const expected = unknown ? 'not_found' : apply(model, step, revision);
    const { status, body } = sent;
    const got = status === 200 ? 'ok' : body.error.code;
    if (got !== expected) fail(`step ${at} ${JSON.stringify(step)}: ${got} instead of ${expected}`);
    if (got === 'revision_conflict') t.match(body.error.message, new RegExp(`revision ${model.revision}\\b`));
    seen.set(view, model.revision);
    if (step.kind === 'delete' && got === 'ok') {
      models.delete(id);
      deleted.push(id);
    } else if (got === 'ok') t.match(body, show(model), `step ${at} ${step.kind}`);
    if (!t.passing()) fail(`step ${at} ${JSON.stringify(step)}`);
  }
  for (const id of deleted) t.equal((await desk.ask('GET', `/policies/${id}`)).status, 404);
  for (const [id, model] of models) {
    const { body } = await desk.ask('GET', `/policies/${id}`);
    t.match(body, show(model));
    const versions = (await desk.ask('GET', `/policies/${id}/versions?limit=100`)).body.data;
    t.same(
      versions.map(({ rule }) => rule),
      model.versions.map(({ rule }) => rule),
    );
    t.same(
      versions.filter(({ current }) => current).map(({ version }) => version),
      model.versions.length ? [model.versions.length] : [],
    );
    if (!t.passing()) fail(`the end of ${id}`);
  }
  const listed = (await desk.ask('GET', '/policies?limit=100')).body.data;
  for (const { id, state, revision } of listed.filter((item) => models.has(item.id)))
    t.match({ state, revision }, { state: models.get(id)!.state, revision: models.get(id)!.revision });
  // The next sequence begins with an empty organization.
  for (const { id, revision } of listed) await desk.ask('DELETE', `/policies/${id}?revision=${revision}`);
};

for (const each of stores)
  t.test(`3 random lives of policies agree with a plain model after each step [${each.name}]`, async (t) => {
    const desk = await openDesk(t, await each.store(t));
    await fc.assert(
      fc.asyncProperty(steps, (sequence) => drive(t, desk, sequence)),
      { numRuns: 8, endOnFailure: true },
    );
  });
