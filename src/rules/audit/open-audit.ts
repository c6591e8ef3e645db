import { silentLog } from '../../core/log.js';
import { lockFolder } from '../../io/records/folder-lock.js';
import type { Audit, AuditOptions } from './audit.js';
import { AuditClient } from './client.js';
import { MEMORY } from './spool-file.js';

/** Opens the audit trail of a folder, which no other process may use meanwhile. */
export async function openAudit(options: AuditOptions): Promise<Audit> {
  const unlock = options.path === MEMORY ? () => {} : lockFolder(options.path);
  const client = new AuditClient(options, options.log ?? silentLog, unlock);
  try {
    await client.opened;
    return client;
  } catch (error) {
    unlock();
    throw error;
  }
}
