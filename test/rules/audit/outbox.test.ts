import t from 'tap';
import type { AuditFacts } from '../../../src/core/audit.js';
import { GLOBAL } from '../../../src/io/records/records.js';
import { AuditUnavailable } from '../../../src/rules/audit/audit.js';
import { createOutbox, outboxStep } from '../../../src/rules/audit/outbox.js';
import { MemoryRecords } from '../../support/memory-records.js';
import { facts, ORG, until } from './desk.js';

class Recorder {
  readonly taken: AuditFacts[] = [];
  fails = false;
  async confirm(given: AuditFacts): Promise<void> {
    if (this.fails) throw new AuditUnavailable('there is no room');
    this.taken.push(given);
  }
}

const change = (id: string, over: Partial<AuditFacts> = {}) => [
  { op: 'put', collection: 'things', id, value: {}, expect: 'absent' } as const,
  outboxStep(facts({ event_type: 'admin', details: { id }, ...over })),
];

const waiting = async (records: MemoryRecords, partition = ORG): Promise<number> =>
  (await records.list(partition, 'outbox', { limit: 100 })).items.length;

const openOutbox = (records: MemoryRecords, recorder: Recorder) =>
  createOutbox({ records, recorder, organizations: async () => [ORG] });

t.test(
  'D28 an administration change and its event are committed together, then the event is moved',
  async (t) => {
    const records = new MemoryRecords();
    const recorder = new Recorder();
    const outbox = openOutbox(records, recorder);
    await records.commit(ORG, change('a'));
    t.equal(await waiting(records), 1);
    t.match(await records.commit(ORG, change('a')), { ok: false }, 'a change that fails leaves no event');
    t.equal(await waiting(records), 1);
    outbox.moveSoon(ORG);
    await until(async () => (await waiting(records)) === 0);
    t.match(recorder.taken, [{ details: { id: 'a' }, event_id: /^evt_/, created_at: /^20.*Z$/ }]);
    await outbox.close();
  },
);

t.test(
  'D28 events that the spool cannot take stay in the outbox, and the next sweep moves them in order',
  async (t) => {
    const records = new MemoryRecords();
    const recorder = new Recorder();
    recorder.fails = true;
    const outbox = openOutbox(records, recorder);
    for (let n = 0; n < 150; n++) await records.commit(ORG, change(`t${String(n).padStart(3, '0')}`));
    await records.commit(GLOBAL, change('g'));
    await t.rejects(outbox.move(ORG), AuditUnavailable);
    t.equal(await waiting(records), 100);
    await outbox.close();

    recorder.fails = false;
    const next = openOutbox(records.opener(), recorder);
    await records.unclaim('outbox-sweep');
    await next.sweep();
    await until(async () => (await waiting(records)) + (await waiting(records, GLOBAL)) === 0);
    t.equal(recorder.taken.length, 151);
    const ids = recorder.taken
      .filter(({ details }) => details!['id'] !== 'g')
      .map(({ event_id }) => event_id!);
    t.same(ids, [...ids].sort());
    await next.close();
  },
);

t.test('D28 one replica moves at a time, and a change made meanwhile is moved too', async (t) => {
  const records = new MemoryRecords();
  const [one, two] = [new Recorder(), new Recorder()];
  const first = openOutbox(records, one);
  const second = openOutbox(records.opener(), two);
  await records.commit(ORG, change('a'));
  first.moveSoon(ORG);
  await records.commit(ORG, change('b'));
  first.moveSoon(ORG);
  second.moveSoon(ORG);
  await until(async () => (await waiting(records)) === 0);
  const ids = [...one.taken, ...two.taken].map(({ details }) => details!['id']);
  t.same(ids.sort(), ['a', 'b']);
  await first.close();
  await second.close();
});

t.test(
  'D28 a crash between recording and deleting tells the same event again, under the same id',
  async (t) => {
    const records = new MemoryRecords();
    const recorder = new Recorder();
    const outbox = openOutbox(records, recorder);
    await records.commit(ORG, change('a'));
    const confirm = recorder.confirm.bind(recorder);
    recorder.confirm = async (given) => {
      await confirm(given);
      records.down = true;
    };
    await t.rejects(outbox.move(ORG));
    records.down = false;
    recorder.confirm = confirm;
    await outbox.close();
    const next = openOutbox(records, recorder);
    await records.unclaim(`outbox:${ORG}`);
    await next.move(ORG);
    t.equal(recorder.taken.length, 2);
    t.equal(recorder.taken[0]!.event_id, recorder.taken[1]!.event_id);
    await next.close();
  },
);
