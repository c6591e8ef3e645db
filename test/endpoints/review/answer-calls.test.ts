import t from 'tap';
import type { Channel } from '../../../src/dialects/guard.js';
import { DENIED, makeGuard, published } from './make-guard.js';

const call: Channel = { kind: 'tool', id: '1' };

t.test('D19 a call is read by what it says, however its JSON spells it', async (t) => {
  for (const spelt of [
    '{"q":"a na\\u00efve plan"}',
    '{"q":["forbidden\\nfruit"]}',
    '{"\\u007aorkmid":1}',
    '{"q":"\\u007aorkmid","q":"x"}',
    '{"q":"\\u007aorkmid coins and th',
  ]) {
    const guard = await makeGuard('adaptive', { denylist: DENIED });
    guard.write(call, 'find ', true);
    guard.write(call, spelt);
    t.equal(guard.stop, null, 'not before it is whole');
    guard.close(call);
    t.match(guard.stop?.notice, /Output blocked/, spelt);
    t.equal(guard.clear, 0);
  }
  const policed = await makeGuard('adaptive', {}, { policies: published });
  policed.write(call, '{"q":"code\\tword alpha"}');
  policed.close(call);
  t.match(policed.stop?.notice, /Output blocked/);
  const apart = await makeGuard('adaptive', { denylist: DENIED });
  apart.write(call, '{"q":["forbidden","fruit","\\n"]}');
  apart.close(call);
  t.equal(apart.stop, null, 'no term goes from one string to the next');
});

t.test('D31 others are asked what a call says, and it waits for them', async (t) => {
  const asked: string[] = [];
  const guard = await makeGuard('adaptive', {}, { holdChars: 10, asked });
  guard.write(call, '{"q":"\\u007aorkmid"}');
  await guard.pending;
  guard.close(call);
  t.equal(guard.clear, 0);
  await guard.pending;
  t.same(asked, ['{"q":"\\u007aorkmid"}', 'q;\nzorkmid']);
  t.equal(guard.clear, 20);
});

t.test('D38 without a hold a call waits all the same while data is masked', async (t) => {
  const guard = await makeGuard('async', { redact: true });
  guard.write(call, '{"to":"jane.doe@example.com"}');
  t.equal(guard.clear, 0);
  guard.close(call);
  t.equal(guard.clear, 29);
  t.same(guard.takeEdits(), [{ from: 0, to: 29, text: '{"to":"[EMAIL_1]"}' }]);
  const open = await makeGuard('async', {});
  open.write(call, '{"to":"jane.doe@example.com"}');
  t.equal(open.clear, 29);
});
