import { fork } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import { lockFolder } from '../../../src/io/records/folder-lock.js';

t.test('a second server of one folder is refused and told who the first is', async (t) => {
  const path = t.testdir();
  const child = fork(new URL('./lock-child.js', import.meta.url), [path]);
  await once(child, 'message');
  t.throws(() => lockFolder(path), new RegExp(`in use by another Sluice \\(process ${child.pid},`));

  const records = await openEmbeddedRecords({ path });
  t.match(await records.claim('a command', 1_000), true, 'a command works beside the server');
  await records.close();

  child.kill('SIGKILL');
  await once(child, 'exit');
  const release = lockFolder(path);
  t.throws(() => lockFolder(path), new RegExp(`process ${process.pid},`));
  release();
  release();
  lockFolder(path)();
});
