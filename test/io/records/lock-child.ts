import { lockFolder } from '../../../src/io/records/folder-lock.js';

/** Holds the lock of a folder until it is killed. */
lockFolder(process.argv[2]!);
process.send!('locked');
setInterval(() => {}, 60_000);
