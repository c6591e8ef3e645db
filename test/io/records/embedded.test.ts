import t from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { keepTheContract } from './contract.js';

t.test('the embedded store keeps the contract of records', async (t) => {
  const path = t.testdir();
  keepTheContract(t, () => openEmbeddedRecords({ path }));
});
