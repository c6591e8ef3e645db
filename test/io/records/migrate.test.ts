import { join } from 'node:path';
import t from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { migrate, readMigrations } from '../../../src/io/records/migrate.js';
import { openDatabase } from '../../../src/io/records/sqlite.js';
import type { Database } from '../../../src/io/records/sqlite.js';

const [first, second, ...later] = readMigrations();

function edit(path: string, change: (database: Database) => void): void {
  const database = openDatabase(join(path, 'sluice.db'));
  change(database);
  database.close();
}

t.test('migrations are numbered without gaps', async (t) => {
  const numbers = [first!, second!, ...later].map(({ number }) => number);
  t.strictSame(
    numbers,
    numbers.map((_, i) => i + 1),
  );
});

t.test('a file of the first version is upgraded and keeps what it holds', async (t) => {
  const path = t.testdir();
  edit(path, (database) => {
    migrate(database, [first!]);
    database.exec(`
      INSERT INTO records VALUES ('org', 'things', 'old', 7, '{"n":1}', NULL);
      INSERT INTO generations VALUES ('org', 41);
    `);
  });
  const records = await openEmbeddedRecords({ path });
  t.strictSame(await records.get('org', 'things', 'old'), { id: 'old', revision: 7, value: { n: 1 } });
  const to = { partition: 'org', collection: 'things', id: 'old' };
  t.match(await records.commit('org', [{ op: 'point', digest: 'd', to }]), { ok: true });
  t.equal(await records.generation('org'), 42);
  t.strictSame(await records.find('d'), to);
  t.equal(await records.claim('name', 1_000), true);
  await records.close();
  edit(path, (database) => {
    const applied = database.prepare('SELECT name, checksum FROM migrations ORDER BY number').all();
    t.match(
      applied,
      readMigrations().map(({ name, checksum }) => ({ name, checksum })),
    );
  });
});

t.test('a file of a newer program is refused, and left as it is', async (t) => {
  const path = t.testdir();
  edit(path, (database) => {
    migrate(database, [
      ...readMigrations(),
      { number: 999, name: '999-future', sql: 'SELECT 1', checksum: 'x' },
    ]);
  });
  await t.rejects(openEmbeddedRecords({ path }), /newer Sluice.*999-future/);
});

t.test('a file whose migration was another one is refused', async (t) => {
  const path = t.testdir();
  edit(path, (database) => migrate(database, [{ ...first!, checksum: 'other' }]));
  await t.rejects(openEmbeddedRecords({ path }), /another migration 001-records/);
});

t.test('a migration that fails leaves nothing of itself', async (t) => {
  const path = t.testdir();
  edit(path, (database) => {
    const broken = {
      number: 1,
      name: '001-broken',
      sql: 'CREATE TABLE half (id TEXT); SELECT nonsense',
      checksum: 'x',
    };
    t.throws(() => migrate(database, [broken]), /nonsense/);
    t.equal(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").get(), undefined);
    t.strictSame(database.prepare('SELECT * FROM migrations').all(), []);
  });
});

t.test('several that open one new file at once all succeed', async (t) => {
  const path = t.testdir();
  const openers = await Promise.all(Array.from({ length: 4 }, () => openEmbeddedRecords({ path })));
  await Promise.all(openers.map((records) => records.ping()));
  await Promise.all(openers.map((records) => records.close()));
});
