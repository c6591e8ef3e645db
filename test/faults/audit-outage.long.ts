import { existsSync } from 'node:fs';
import t from 'tap';
import { surviveOutage } from '../support/audit/outage-run.js';

t.setTimeout(50 * 60_000);

t.test(
  'D28 a destination that is down for ten minutes costs requests no CPU, no memory and no event',
  { timeout: 49 * 60_000, skip: existsSync('/proc/self/task') ? false : 'CPU per thread is read from /proc' },
  (t) =>
    surviveOutage(t, {
      perSecond: 150,
      warmUpMs: 30_000,
      sliceMs: 20_000,
      rounds: 7,
      outageMs: 10 * 60_000,
    }),
);
