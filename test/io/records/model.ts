import fc from 'fast-check';
import type { Test } from 'tap';
import { newId } from '../../../src/core/ids.js';
import type { Committed, Expect, Pointer, Records, Step, Stored } from '../../../src/io/records/records.js';

const COLLECTIONS = ['c', 'c/d'];
const IDS = ['a', 'b', 'ab', '__proto__', 'ü'];
const DIGESTS = ['d1', 'd2'];

/** The contract of records in the plainest words: maps that are copied before a commit and put back if it fails. */
class Model {
  documents = new Map<string, Stored>();
  listed = new Set<string>();
  pointers = new Map<string, Pointer>();
  uses = new Map<string, number>();
  generation = 0;

  commit(steps: readonly Step[]): Committed {
    const before = [
      new Map(this.documents),
      new Set(this.listed),
      new Map(this.pointers),
      new Map(this.uses),
    ] as const;
    const revisions: number[] = [];
    for (const [step, one] of steps.entries()) {
      const outcome = this.#apply(one);
      if (typeof outcome === 'number') revisions.push(outcome);
      else {
        [this.documents, this.listed, this.pointers, this.uses] = before;
        return { ok: false, step, ...outcome };
      }
    }
    this.generation++;
    return { ok: true, revisions };
  }

  #apply(step: Step): number | Pick<Extract<Committed, { ok: false }>, 'reason' | 'current'> {
    if (step.op === 'room')
      return this.members(step.collection).length < step.max ? 0 : { reason: 'full', current: null };
    if (step.op === 'unpoint') {
      this.pointers.delete(step.digest);
      return 0;
    }
    if (step.op === 'point') {
      const holder = this.pointers.get(step.digest);
      if (holder && holder.id !== step.to.id && this.documents.has(`c ${holder.id}`))
        return { reason: 'exists', current: null };
      this.pointers.set(step.digest, step.to);
      return 0;
    }
    const place = `${step.collection} ${step.id}`;
    const current = this.documents.get(place) ?? null;
    if (step.expect === 'absent' && current) return { reason: 'exists', current };
    if (typeof step.expect === 'number' && !current) return { reason: 'missing', current };
    if (typeof step.expect === 'number' && current!.revision !== step.expect)
      return { reason: 'revision', current };
    this.listed.delete(place);
    if (step.op === 'delete') {
      if (this.documents.delete(place)) this.uses.delete(step.id);
      return 0;
    }
    const revision = (current?.revision ?? 0) + 1;
    this.documents.set(place, { id: step.id, revision, value: step.value });
    if (step.ttlMs === undefined) this.listed.add(place);
    return revision;
  }

  members(collection: string): Stored[] {
    return [...this.listed]
      .filter((place) => place.startsWith(`${collection} `))
      .map((place) => this.documents.get(place)!)
      .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
  }
}

const collection = fc.constantFrom(...COLLECTIONS);
const id = fc.constantFrom(...IDS);
const digest = fc.constantFrom(...DIGESTS);
const expectation: fc.Arbitrary<Expect> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('any' as const) },
  fc.constant('absent' as const),
  fc.integer({ min: 1, max: 4 }),
);
const put = fc
  .record({ collection, id, expect: expectation, n: fc.integer(), isBrief: fc.integer({ min: 0, max: 4 }) })
  .map(({ n, isBrief, ...rest }): Step => {
    return { op: 'put', ...rest, value: { n }, ...(isBrief === 0 ? { ttlMs: 3_600_000 } : {}) };
  });
const point = fc
  .record({ digest, id })
  .map(({ digest, id }): Step => ({ op: 'point', digest, to: { partition: '', collection: 'c', id } }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: put },
  fc.record({ op: fc.constant('delete' as const), collection, id, expect: expectation }),
  fc.record({ op: fc.constant('room' as const), collection, max: fc.integer({ min: 1, max: 5 }) }),
  point,
  fc.record({ op: fc.constant('unpoint' as const), digest }),
);
/** Redis keeps pointers beside the commit: it takes them first, and each digest once. */
const steps = fc
  .uniqueArray(step, { maxLength: 5, selector: (step) => ('digest' in step ? step.digest : Symbol()) })
  .map((steps) => steps.sort((a, b) => Number('digest' in b) - Number('digest' in a)));
const uses = fc.array(fc.tuple(id, fc.integer({ min: 0, max: 1000 })), { maxLength: 3 });
const rounds = fc.array(fc.record({ steps, uses }), { minLength: 1, maxLength: 15 });

/** Digests belong to the whole store, so each run names its own. */
function moveTo(partition: string, step: Step): Step {
  if (step.op === 'point')
    return { ...step, digest: `${partition} ${step.digest}`, to: { ...step.to, partition } };
  return step.op === 'unpoint' ? { ...step, digest: `${partition} ${step.digest}` } : step;
}

/** Random commits against a store and against the model: every answer and all that can be read must be equal. */
export function followTheModel(t: Test, open: () => Promise<Records>, runs: number): void {
  t.test('any sequence of commits leaves the store as the model says', async (t) => {
    const records = await open();
    t.teardown(() => records.close());
    await fc.assert(
      fc.asyncProperty(rounds, async (rounds) => {
        const partition = newId('org'); // a new one for every run, also while fast-check shrinks
        const model = new Model();
        for (const round of rounds) {
          const steps = round.steps.map((step) => moveTo(partition, step));
          equal(await records.commit(partition, steps), model.commit(steps), 'commit');
          await records.noteUses(partition, new Map(round.uses));
          for (const [id, usedAt] of new Map(round.uses))
            model.uses.set(id, Math.max(usedAt, model.uses.get(id) ?? 0));
          await compare(records, model, partition);
        }
      }),
      { numRuns: runs },
    );
  });
}

async function compare(records: Records, model: Model, partition: string): Promise<void> {
  equal(await records.generation(partition), model.generation, 'generation');
  equal(
    await records.lastUses(partition, IDS),
    IDS.map((one) => model.uses.get(one) ?? null),
    'uses',
  );
  for (const name of DIGESTS) {
    const digest = `${partition} ${name}`;
    equal(await records.find(digest), model.pointers.get(digest) ?? null, 'pointer');
  }
  for (const one of COLLECTIONS) {
    for (const member of IDS)
      equal(
        await records.get(partition, one, member),
        model.documents.get(`${one} ${member}`) ?? null,
        'record',
      );
    const up = model.members(one);
    equal(await records.list(partition, one, { limit: 10 }), { items: up, hasMore: false }, 'list');
    const down = [...up]
      .reverse()
      .filter((item) => Buffer.compare(Buffer.from(item.id), Buffer.from('b')) < 0);
    equal(
      await records.list(partition, one, { limit: 1, after: 'b', order: 'desc' }),
      { items: down.slice(0, 1), hasMore: down.length > 1 },
      'page',
    );
  }
}

function equal(actual: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: the store says ${a}, the model ${b}`);
}
