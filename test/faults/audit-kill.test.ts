import t from 'tap';
import { surviveKills } from '../support/audit/kill-run.js';
import { surviveInjection } from '../support/audit/seam-run.js';

t.setTimeout(180_000);

t.test('D28 every event whose reply a client saw reaches every sink, whoever is killed or fails', (t) =>
  surviveKills(t, { requests: 600, perSecond: 150, kills: 3, failing: 0.2, deliverMs: 60_000 }),
);

t.test('D28 events that go straight into the trail all arrive, whoever is killed or fails', (t) =>
  surviveInjection(t, { events: 4_000, perSecond: 2_000, kills: 1, failing: 0.2, drainMs: 60_000 }),
);
