import t from 'tap';
import { surviveKills } from '../support/audit/kill-run.js';

t.setTimeout(40 * 60_000);

t.test('D28 20,000 requests at 300/s all arrive, whoever is killed or fails', { timeout: 39 * 60_000 }, (t) =>
  surviveKills(t, { requests: 20_000, perSecond: 300, kills: 10, failing: 0.2, deliverMs: 10 * 60_000 }),
);
