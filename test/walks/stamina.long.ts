import t from 'tap';
import { surviveSilence } from './stamina.js';

t.setTimeout(15 * 60_000);
t.test('6.1 a stream of ten minutes with an event every 20 s survives', { timeout: 12 * 60_000 }, (t) =>
  surviveSilence(t, 30, 20_000, 15_000),
);
