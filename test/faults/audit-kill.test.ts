import t from 'tap';
import { surviveKills } from '../support/audit/kill-run.js';

t.setTimeout(180_000);

t.test('D28 every event whose reply a client saw reaches every sink, whoever is killed or fails', (t) =>
  surviveKills(t, { requests: 600, perSecond: 150, kills: 3, failing: 0.2, deliverMs: 60_000 }),
);
