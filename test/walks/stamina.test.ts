import t from 'tap';
import { holdSlowReader, surviveSilence } from './stamina.js';

// Short twins of the runs in stamina.long.ts.
t.test('6.1 a quiet stream survives, kept alive by comments', (t) => surviveSilence(t, 5, 250, 60));
t.test('6.2 a reader that stops reading keeps memory flat, and loses nothing', { timeout: 120_000 }, (t) =>
  holdSlowReader(t, 200 * 1_048_576),
);
