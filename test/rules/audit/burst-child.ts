import { openAudit } from '../../../src/rules/audit/open-audit.js';
import { facts, sinkOf } from './desk.js';

/** Records events into the folder it is given until it is killed, and tells its parent of each acknowledged one. */
const [, , path, file] = process.argv as [string, string, string, string];
const audit = await openAudit({
  worker: new URL('./worker.js', import.meta.url),
  senders: null,
  path,
  durability: 'process',
  maxBytes: 1e9,
  minFreeBytes: 0,
  retentionMs: 1e9,
});
audit.setSinks([sinkOf('sink_1', { type: 'file', config: { file } })]);
let next = 0;

async function record(): Promise<void> {
  for (;;) {
    const id = `${process.pid}-${next++}`;
    await audit.record(facts({ request_id: id }));
    process.send!(id);
  }
}

await Promise.all(Array.from({ length: 32 }, record));
