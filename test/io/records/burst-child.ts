import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';

/** Writes records into the folder it is given until it is killed, and tells its parent of each acknowledged one. */
const records = await openEmbeddedRecords({ path: process.argv[2]! });
let next = 0;

async function write(): Promise<void> {
  for (;;) {
    const id = `w${String(next++).padStart(8, '0')}`;
    const value = { text: id.repeat(20) };
    const committed = await records.commit('org', [
      { op: 'put', collection: 'things', id, value, expect: 'absent' },
    ]);
    if (committed.ok) process.send!(id);
  }
}

await Promise.all(Array.from({ length: 32 }, write));
