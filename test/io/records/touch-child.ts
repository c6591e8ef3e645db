import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';

/** One change by another process, as a command makes it beside a running server. Closes nothing: ending must suffice. */
const records = await openEmbeddedRecords({ path: process.argv[2]! });
await records.commit('org', [{ op: 'put', collection: 'things', id: 'foreign', value: {}, expect: 'any' }]);
