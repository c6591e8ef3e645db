import t from 'tap';
import { surviveInjection } from '../support/audit/seam-run.js';

t.setTimeout(30 * 60_000);

t.test(
  'D28 100,000 events at 2,000/s all arrive, whoever is killed or fails',
  { timeout: 29 * 60_000 },
  (t) =>
    surviveInjection(t, { events: 100_000, perSecond: 2_000, kills: 10, failing: 0.2, drainMs: 10 * 60_000 }),
);
