import t from 'tap';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import { decide, noFindings, type Findings } from '../../../src/rules/policy-gateway/decide.js';
import { policyHeaders } from '../../../src/rules/policy-gateway/headers.js';
import { standings } from '../../../src/rules/policy-gateway/rollout.js';

const judge = (
  more: Partial<Findings>,
  standing: keyof typeof standings = 'enforced',
  codes: string[] = [],
) =>
  decide(
    readConfig({ rules: { denylist: ['x'], reason_codes: codes } }),
    { ...noFindings('request'), ...more },
    standings[standing],
  );

const headers = (decision: string, reason: string, mode: string) => ({
  'x-policy-decision': decision,
  'x-policy-reason-code': reason,
  'x-policy-rollout-mode': mode,
});

t.test('D26 a decision shows always, when something was done, or never', async (t) => {
  const plain = judge({});
  t.strictSame(policyHeaders(plain, 'always'), headers('allow', 'ALLOW', 'enforced'));
  t.strictSame(policyHeaders(plain, 'when_acted'), {});
  t.strictSame(policyHeaders(plain, 'never'), {});

  const refused = judge({ denylist: ['x'] });
  t.strictSame(policyHeaders(refused, 'when_acted'), headers('refuse', 'REFUSE', 'enforced'));
  t.strictSame(policyHeaders(refused, 'never'), {});
  t.strictSame(
    policyHeaders(judge({ denylist: ['x'] }, 'shadow'), 'when_acted'),
    headers('refuse', 'REFUSE', 'shadow'),
    'what was only recorded too',
  );
  t.strictSame(
    policyHeaders(judge({ redactions: [{ name: 'email', count: 1 }] }), 'when_acted'),
    headers('allow', 'ALLOW', 'enforced'),
    'masking is doing something',
  );
});

t.test('D26 a reason code in the organization’s own words fits into a header', async (t) => {
  const codeOf = (code: string) =>
    policyHeaders(judge({ denylist: ['x'] }, 'enforced', [code]), 'always')['x-policy-reason-code'];
  t.equal(codeOf('SAFETY_1'), 'SAFETY_1');
  t.equal(codeOf('größer\r\nset-cookie: a'), 'gr%C3%B6%C3%9Fer%0D%0Aset-cookie:%20a');
  t.equal(codeOf('a\ud800'), 'a%EF%BF%BD');
  t.equal(codeOf('\u{1f600}'), '%F0%9F%98%80');
});
