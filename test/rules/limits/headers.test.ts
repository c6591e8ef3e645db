import t from 'tap';
import {
  adminHeaders,
  chooseReading,
  inferenceHeaders,
  retryAfterS,
} from '../../../src/rules/limits/headers.js';
import type { AdmitReply, Reading } from '../../../src/rules/limits/limiter.js';
import { creditsShort, limitReached } from '../../../src/rules/limits/refusal.js';

const reading = (given: Partial<Reading>): Reading => ({
  scope: 'key',
  id: 'key_a',
  metric: 'rpm',
  window: given.metric === 'rpd' || given.metric === 'tpd' ? 'day' : 'minute',
  limit: 60,
  used: 0,
  reserved: 0,
  resetMs: 0,
  waitMs: 0,
  ...given,
});

const replyWith = (readings: readonly Reading[], more: Partial<AdmitReply> = {}): AdmitReply => ({
  outcome: 'refused',
  nowMs: 1_900_000_000_400,
  readings,
  binding: readings.find(({ waitMs }) => waitMs > 0) ?? null,
  retryMs: Math.max(0, ...readings.map(({ waitMs }) => waitMs)),
  concurrencyLeft: null,
  credits: null,
  clockStepped: false,
  pruned: 0,
  ...more,
});

t.test('8.4 the request headers show the pair with the least left, however large its limit', async (t) => {
  const headers = inferenceHeaders({
    readings: [
      reading({ limit: 60, used: 49, resetMs: 60_000 }),
      reading({ scope: 'organization', limit: 120, used: 105, resetMs: 59_400 }),
      reading({ metric: 'tpm', limit: 1_000_000, used: 4_000, resetMs: 60_000 }),
      reading({
        metric: 'tpd',
        scope: 'organization',
        limit: 1_000_000_000,
        used: 4_000,
        resetMs: 86_400_000,
      }),
    ],
  });
  t.same(headers, {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '11',
    'x-ratelimit-reset-requests': '1m0s',
    'x-ratelimit-limit-tokens': '1000000',
    'x-ratelimit-remaining-tokens': '996000',
    'x-ratelimit-reset-tokens': '1m0s',
  });
});

t.test('8.4 the project-token headers stand there exactly when the project binds', async (t) => {
  const tokens = (scope: Reading['scope'], limit: number) =>
    reading({ metric: 'tpm', scope, limit, used: 100, resetMs: 20 });
  const bound = inferenceHeaders({
    readings: [tokens('key', 1_000), tokens('project', 900), tokens('organization', 2_000)],
  });
  t.match(bound, {
    'x-ratelimit-limit-tokens': '900',
    'x-ratelimit-limit-project-tokens': '900',
    'x-ratelimit-remaining-project-tokens': '800',
    'x-ratelimit-reset-project-tokens': '20ms',
  });
  const free = inferenceHeaders({ readings: [tokens('key', 900), tokens('project', 900)] });
  t.notOk('x-ratelimit-limit-project-tokens' in free, 'at a tie the key is shown');
});

t.test('8.4 ties: the smaller share, then the minute, then the key', async (t) => {
  const choose = (...readings: Reading[]) => chooseReading(readings, ['rpm', 'rpd']);
  t.match(choose(reading({ limit: 20, used: 10 }), reading({ scope: 'project', limit: 30, used: 20 })), {
    scope: 'project',
  });
  t.match(choose(reading({ metric: 'rpd', limit: 20 }), reading({ limit: 20 })), { metric: 'rpm' });
  t.match(choose(reading({ scope: 'organization' }), reading({}), reading({ scope: 'project' })), {
    scope: 'key',
  });
  t.match(choose(reading({ limit: null }), reading({ scope: 'organization' })), { scope: 'organization' });
  t.equal(choose(reading({ limit: null })), null);
});

t.test('8.4 on a 429 the binding pair is shown, and never less than nothing', async (t) => {
  const headers = inferenceHeaders({
    readings: [
      reading({ limit: 1, used: 1, resetMs: 60_000 }),
      reading({
        scope: 'organization',
        metric: 'rpd',
        limit: 100,
        used: 104,
        waitMs: 3_600_000,
        resetMs: 86_000_000,
      }),
    ],
  });
  t.match(headers, { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '0' });
  t.equal(headers['x-ratelimit-reset-requests'], '23h53m20s');
});

t.test('8.4 the six headers of an administration 429', async (t) => {
  const binding = reading({ limit: 60, used: 60, waitMs: 1_200 });
  const reply = replyWith([binding]);
  t.equal(retryAfterS(reply), 2);
  t.same(adminHeaders(reply, binding), {
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1900000002',
    'x-ratelimit-scope': 'credential',
    'x-ratelimit-metric': 'requests',
  });
  t.match(adminHeaders(reply, reading({ scope: 'organization', metric: 'concurrent' })), {
    'x-ratelimit-scope': 'organization',
    'x-ratelimit-metric': 'concurrent_requests',
  });
});

t.test('7.3 the message names scope, metric, limit and when it frees', async (t) => {
  const error = limitReached(
    replyWith([reading({ scope: 'project', used: 60, waitMs: 2_500 })]),
    'inference',
  );
  t.match(error, { code: 'rate_limit_exceeded', status: 429, retryAfterS: 3 });
  t.match(
    error.message,
    /requests per minute of this project, limit 60, used 60\. It frees in 2\.5s\. Try again in 3s/,
  );
  t.match(error.headers, { 'x-ratelimit-limit-requests': '60' });
  const busy = limitReached(
    replyWith([reading({ metric: 'concurrent', limit: 4, used: 4, waitMs: 1_000 })]),
    'admin',
  );
  t.match(busy.message, /concurrent requests of this API key, limit 4/);
  t.equal(busy.headers['x-ratelimit-metric'], 'concurrent_requests');
});

t.test('D21 a quota refuses with its reason code', async (t) => {
  const quota = (scope: 'user' | 'project') =>
    limitReached(
      replyWith([
        reading({ scope, metric: 'quota_tokens', window: 'monthly', limit: 9, used: 9, waitMs: 90_000 }),
      ]),
      'inference',
    );
  t.match(quota('user').message, /^USER_QUOTA_EXCEEDED: .*monthly quota of tokens of this user, limit 9/);
  t.equal(quota('user').headers['x-policy-reason-code'], 'USER_QUOTA_EXCEEDED');
  t.equal(quota('project').headers['x-policy-reason-code'], 'PROJECT_QUOTA_EXCEEDED');
});

t.test('7.4 too few credits are a 402 that says how many are left, and of what', async (t) => {
  const short = (available: number, keyAvailable: number | null) =>
    creditsShort(
      replyWith([], { outcome: 'short_of_credits', credits: { balance: 90, available, keyAvailable } }),
      'inference',
      50,
    );
  t.match(short(40, null), { code: 'insufficient_credits', status: 402, retryAfterS: null });
  t.match(short(40, null).message, /up to 50 credits; 40 are available/);
  t.match(short(80, 10).message, /budget of this API key has 10 left/);
  t.match(short(-5, null).message, /; 0 are available/);
});
