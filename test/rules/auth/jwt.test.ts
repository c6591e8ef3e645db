import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
  type JWTHeaderParameters,
} from 'jose';
import t from 'tap';
import { jwtFault, type JwtOptions } from '../../../src/rules/auth/jwt.js';
import { setOrganization } from '../../../src/rules/auth/organizations.js';
import { checkLeaks } from '../../support/leaks.js';
import type { ManualClock } from '../../support/manual-clock.js';
import { authenticatorFor, bearer, inMemory, refusalOf } from './setting.js';

const ISSUER = 'https://id.example.com';
const AUDIENCE = 'sluice';
const SECRET = 'a-shared-secret-of-more-than-32-bytes';

const shared: JwtOptions = {
  issuer: ISSUER,
  audience: AUDIENCE,
  algorithms: ['HS256'],
  jwksUrl: '',
  secret: SECRET,
};

interface Subject {
  teardown(undo: () => unknown): unknown;
}

/** undefined leaves a claim out. */
type Claims = Record<string, unknown>;

const claims = (clock: ManualClock, over: Claims = {}): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'user-1',
  org_id: 'org_demo',
  project_id: 'proj_app',
  exp: clock.nowMs() / 1_000 + 300,
  ...over,
});

const sign = (
  payload: JWTPayload,
  key: CryptoKey | Uint8Array,
  header: JWTHeaderParameters,
): Promise<string> => new SignJWT(payload).setProtectedHeader(header).sign(key);

const signShared = (payload: JWTPayload, header: Partial<JWTHeaderParameters> = {}): Promise<string> =>
  sign(payload, Buffer.from(SECRET), { alg: 'HS256', typ: 'JWT', ...header });

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A signed token with any header at all, as no library would make it. */
const forge = (header: object, payload: object, secret: string | Buffer = SECRET): string => {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

const makeKey = async (alg: string, kid: string) => {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid };
  return { alg, kid, publicKey, privateKey, jwk };
};

/** An issuer's key set on the loopback, with its answer in the test's hands. */
const serveKeys = async (t: Subject, keys: JWK[]) => {
  const site = { keys, requests: 0, status: 200, body: null as string | null, urls: [] as string[] };
  const server = createServer((request, response) => {
    site.requests++;
    site.urls.push(request.url!);
    response.writeHead(site.status, { 'content-type': 'application/json', connection: 'close' });
    response.end(site.body ?? JSON.stringify({ keys: site.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options: JwtOptions = {
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: ['RS256', 'ES256', 'EdDSA'],
    jwksUrl: `${origin}/jwks.json`,
    secret: '',
  };
  return { site, origin, options };
};

t.test(
  'D33 a JWT names organization, project and subject, and gets permissions of a project at most',
  async (t) => {
    const setting = await inMemory();
    const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
    const ask = async (over: Claims) => authenticate(bearer(await signShared(claims(setting.clock, over))));
    t.same(await ask({}), {
      kind: 'jwt',
      organization: { id: 'org_demo', name: 'Demo', plan: 'developer', lifetimePaidUsd: 0, metered: false },
      projectId: 'proj_app',
      keyId: 'user-1',
      permissions: new Set(['inference', 'gateway.read']),
      models: null,
      creditBudget: null,
    });
    t.equal((await ask({ project_id: undefined })).projectId, null);
    t.same(
      (await ask({ scope: 'openid gateway.write policies.write' })).permissions,
      new Set(['gateway.write']),
    );
    t.same(
      (await ask({ permissions: ['inference', '*'], scope: 'gateway.read' })).permissions,
      new Set(['inference']),
    );
    t.same((await ask({ permissions: [] })).permissions, new Set());
  },
);

t.test(
  '5 JWTs are for inference and the gateway; count_tokens and administration take keys only',
  async (t) => {
    const setting = await inMemory();
    const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
    const token = await signShared(claims(setting.clock));
    for (const rule of ['inference', 'gateway'] as const)
      t.equal((await authenticate(bearer(token, { rule }))).kind, 'jwt');
    for (const rule of ['admin', 'project_key'] as const)
      t.match(await refusalOf(authenticate(bearer(token, { rule }))), {
        status: 401,
        code: 'invalid_api_key',
      });
    const off = authenticatorFor(t, setting);
    t.equal(
      (await refusalOf(off.authenticate(bearer(token)))).code,
      'invalid_api_key',
      'unless JWTs are off',
    );
    t.equal(setting.records.calls.get('find'), undefined, 'a JWT is never tried as a key');
  },
);

t.test('a JWT with wrong, missing or strange claims is 401 and shows nothing of itself', async (t) => {
  const setting = await inMemory();
  const { clock } = setting;
  const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
  const nowS = clock.nowMs() / 1_000;
  const cases: Record<string, Claims> = {
    'wrong issuer': { iss: 'https://evil.example.com' },
    'no issuer': { iss: undefined },
    'wrong audience': { aud: 'other' },
    'no audience': { aud: undefined },
    'no expiry': { exp: undefined },
    'not yet valid': { nbf: nowS + 31 },
    'no subject': { sub: undefined },
    'empty subject': { sub: '' },
    'endless subject': { sub: 's'.repeat(201) },
    'no organization': { org_id: undefined },
    'organization of a strange kind': { org_id: ['org_demo'] },
    'organization with a path': { org_id: '../org_demo' },
    'unknown organization': { org_id: 'org_none' },
    'anonymous organization': { org_id: 'org_anonymous' },
    'project with a path': { project_id: 'a/b' },
    'permissions of a strange kind': { permissions: 'inference' },
  };
  for (const [name, over] of Object.entries(cases)) {
    const token = await signShared(claims(clock, over));
    const error = await refusalOf(authenticate(bearer(token)));
    t.match(error, { status: 401, code: 'invalid_api_key' }, name);
    t.notOk(`${error.message}${String(error.cause)}`.includes('example.com'));
  }
});

t.test(
  'an expired JWT is expired_api_key, 30 seconds late at most, also when it was remembered',
  async (t) => {
    const setting = await inMemory();
    const { clock } = setting;
    const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
    const token = await signShared(claims(clock, { exp: clock.nowMs() / 1_000 + 10 }));
    await authenticate(bearer(token));
    clock.advance(39_000);
    await authenticate(bearer(token));
    clock.advance(1_000);
    t.match(await refusalOf(authenticate(bearer(token))), { status: 401, code: 'expired_api_key' });
  },
);

t.test('a JWT of an organization that changes sees the change within a second', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
  const token = await signShared(claims(setting.clock));
  t.equal((await authenticate(bearer(token))).organization.plan, 'developer');
  await setOrganization(setting.accounts, 'org_demo', { plan: 'scale' });
  t.equal((await authenticate(bearer(token))).organization.plan, 'scale');
});

t.test('two tokens with the same beginning are two tokens', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
  const token = await signShared(claims(setting.clock));
  await authenticate(bearer(token));
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const forged = `${header}.${encode({ ...claims(setting.clock), sub: 'root' })}.${signature}`;
  t.equal((await refusalOf(authenticate(bearer(forged)))).code, 'invalid_api_key');
  const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
  t.equal((await refusalOf(authenticate(bearer(`${header}.${payload}.${flipped}`)))).code, 'invalid_api_key');
});

t.test('forged headers are refused: none, other algorithms, crit, b64, types for other ends', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
  const payload = claims(setting.clock);
  t.equal(
    (await authenticate(bearer(forge({ alg: 'HS256' }, payload)))).kind,
    'jwt',
    'the forge itself works',
  );
  const headers: object[] = [
    { alg: 'none' },
    { alg: 'None' },
    { alg: ' HS256' },
    { alg: 'HS512' },
    { alg: 'RS256' },
    { alg: ['HS256'] },
    {},
    { alg: 'HS256', crit: ['exp'], exp: 1 },
    { alg: 'HS256', crit: ['b64'], b64: false },
    { alg: 'HS256', crit: [] },
    { alg: 'HS256', typ: 'logout+jwt' },
    { alg: 'HS256', typ: 5 },
    { alg: 'HS256', kid: 'k'.repeat(129) },
    { alg: 'HS256', zip: 'DEF', enc: 'A128GCM', crit: ['zip'] },
  ];
  for (const header of headers)
    t.match(
      await refusalOf(authenticate(bearer(forge(header, payload)))),
      { status: 401 },
      JSON.stringify(header),
    );
  const unsigned = `${encode({ alg: 'none' })}.${encode(payload)}.`;
  for (const token of [
    unsigned,
    `${encode({ alg: 'HS256' })}.${encode(payload)}.`,
    '..',
    'a.b.c',
    `${encode([])}.${encode([])}.x`,
  ])
    t.match(
      await refusalOf(authenticate(bearer(token))),
      { status: 401, code: 'invalid_api_key' },
      token.slice(0, 9),
    );
  const twoParts = unsigned.slice(0, -1);
  t.match(
    await refusalOf(authenticate(bearer(twoParts))),
    { code: 'invalid_api_key' },
    'two parts are an unknown key',
  );
  t.equal((await authenticate(bearer(await signShared(payload, { typ: 'at+jwt' })))).kind, 'jwt');
});

t.test('D33 with a JWKS address the listed asymmetric algorithms are verified', async (t) => {
  checkLeaks(t);
  const setting = await inMemory();
  const keys = [await makeKey('RS256', 'r'), await makeKey('ES256', 'e'), await makeKey('EdDSA', 'd')];
  const { options, site } = await serveKeys(
    t,
    keys.map(({ jwk }) => jwk),
  );
  const { authenticate } = authenticatorFor(t, setting, { jwt: options });
  const tokens = await Promise.all(
    keys.map(({ privateKey, alg, kid }) => sign(claims(setting.clock), privateKey, { alg, kid })),
  );
  const principals = await Promise.all(tokens.map((token) => authenticate(bearer(token))));
  t.same(
    principals.map(({ kind }) => kind),
    ['jwt', 'jwt', 'jwt'],
  );
  t.equal(site.requests, 1, 'the set is fetched once');
});

t.test('D33 a good signature of an algorithm that is not listed is refused', async (t) => {
  const setting = await inMemory();
  const payload = claims(setting.clock);
  const narrow = authenticatorFor(t, setting, { jwt: shared });
  const wide = authenticatorFor(t, setting, { jwt: { ...shared, algorithms: ['HS256', 'HS512'] } });
  const token = await sign(payload, Buffer.from(SECRET.repeat(2)), { alg: 'HS512' });
  const same = await sign(payload, Buffer.from(SECRET), { alg: 'HS512' });
  t.equal((await wide.authenticate(bearer(same))).kind, 'jwt');
  for (const one of [token, same]) t.equal((await refusalOf(narrow.authenticate(bearer(one)))).status, 401);

  const key = await makeKey('ES384', 'k');
  const { options } = await serveKeys(t, [key.jwk]);
  const remote = authenticatorFor(t, setting, { jwt: options });
  const signed = await sign(payload, key.privateKey, { alg: 'ES384', kid: 'k' });
  t.equal((await refusalOf(remote.authenticate(bearer(signed)))).status, 401);
});

t.test('a public key is never taken for a shared secret', async (t) => {
  const setting = await inMemory();
  const key = await makeKey('RS256', 'r');
  const oct: JWK = { kty: 'oct', kid: 'o', k: Buffer.from(SECRET).toString('base64url') };
  const { options } = await serveKeys(t, [key.jwk, oct]);
  const { authenticate } = authenticatorFor(t, setting, { jwt: options });
  const payload = claims(setting.clock);
  for (const secret of [await exportSPKI(key.publicKey), JSON.stringify(key.jwk), key.jwk.n!])
    t.equal(
      (await refusalOf(authenticate(bearer(forge({ alg: 'HS256', kid: 'r' }, payload, secret))))).status,
      401,
    );
  t.equal(
    (await refusalOf(authenticate(bearer(forge({ alg: 'HS256', kid: 'o' }, payload, SECRET))))).status,
    401,
  );
  const good = await sign(payload, key.privateKey, { alg: 'RS256', kid: 'r' });
  t.equal((await authenticate(bearer(good))).kind, 'jwt');
});

t.test('a token does not choose its own keys: jku, x5u, jwk and kid are no addresses', async (t) => {
  const setting = await inMemory();
  const [ours, theirs] = [await makeKey('ES256', 'k'), await makeKey('ES256', 'k')];
  const { options } = await serveKeys(t, [ours.jwk]);
  const evil = await serveKeys(t, [theirs.jwk]);
  const { authenticate } = authenticatorFor(t, setting, { jwt: options });
  const payload = claims(setting.clock);
  for (const extra of [
    { kid: 'k', jku: `${evil.origin}/jwks.json` },
    { kid: 'k', x5u: `${evil.origin}/cert.pem` },
    { kid: 'k', jwk: theirs.jwk },
    { kid: `${evil.origin}/jwks.json` },
    { kid: '../../jwks.json' },
  ])
    t.equal(
      (
        await refusalOf(
          authenticate(bearer(await sign(payload, theirs.privateKey, { alg: 'ES256', ...extra }))),
        )
      ).status,
      401,
    );
  t.equal(evil.site.requests, 0);
  const good = await sign(payload, ours.privateKey, {
    alg: 'ES256',
    kid: 'k',
    jku: `${evil.origin}/jwks.json`,
  });
  t.equal((await authenticate(bearer(good))).kind, 'jwt', 'the address in a good token is ignored too');
  t.equal(evil.site.requests, 0);
});

t.test('an unknown key id makes the set be read again, once in 30 seconds', async (t) => {
  const setting = await inMemory();
  const { clock } = setting;
  const [old, fresh] = [await makeKey('ES256', 'old'), await makeKey('ES256', 'new')];
  const { options, site } = await serveKeys(t, [old.jwk]);
  const { authenticate } = authenticatorFor(t, setting, { jwt: options });
  const payload = claims(clock);
  await authenticate(bearer(await sign(payload, old.privateKey, { alg: 'ES256', kid: 'old' })));
  const rotated = await sign(payload, fresh.privateKey, { alg: 'ES256', kid: 'new' });
  site.keys = [old.jwk, fresh.jwk];
  for (let i = 0; i < 5; i++) await refusalOf(authenticate(bearer(rotated)));
  t.equal(site.requests, 1);
  clock.advance(30_000);
  const all = await Promise.all(Array.from({ length: 5 }, () => authenticate(bearer(rotated))));
  t.same(new Set(all.map(({ kind }) => kind)), new Set(['jwt']));
  t.equal(site.requests, 2);
});

t.test('without a readable key set a JWT is 503; with an older one it goes on', async (t) => {
  const setting = await inMemory();
  const { clock } = setting;
  const key = await makeKey('ES256', 'k');
  const { options, site } = await serveKeys(t, [key.jwk]);
  const { authenticate } = authenticatorFor(t, setting, { jwt: options });
  const token = () =>
    sign(claims(clock, { jti: randomBytes(4).toString('hex') }), key.privateKey, { alg: 'ES256', kid: 'k' });

  for (const [status, body] of [
    [500, null],
    [200, 'not json'],
    [200, '{"keys":5}'],
    [200, JSON.stringify({ keys: [key.jwk] }) + ' '.repeat(600_000)],
    [302, null],
  ] as const) {
    Object.assign(site, { status, body });
    t.match(await refusalOf(authenticate(bearer(await token()))), {
      status: 503,
      code: 'store_unavailable',
      retryAfterS: 2,
    });
    clock.advance(2_000);
  }
  t.equal(site.requests, 5);
  await refusalOf(authenticate(bearer(await token())));
  await refusalOf(authenticate(bearer(await token())));
  t.equal(site.requests, 6, 'a failing issuer is not hammered');

  clock.advance(2_000);
  Object.assign(site, { status: 200, body: null });
  await authenticate(bearer(await token()));
  Object.assign(site, { status: 500 });
  for (let minutes = 0; minutes < 55; minutes += 11) {
    clock.advance(11 * 60_000);
    t.equal((await authenticate(bearer(await token()))).kind, 'jwt');
  }
  clock.advance(5 * 60_000);
  t.equal(
    (await refusalOf(authenticate(bearer(await token())))).code,
    'store_unavailable',
    'but not for ever',
  );
});

t.test('options that would mix keys or check nothing are refused at start', async (t) => {
  const setting = await inMemory();
  const remote: JwtOptions = {
    ...shared,
    secret: '',
    jwksUrl: 'https://id.example.com/jwks',
    algorithms: ['RS256'],
  };
  t.equal(jwtFault(shared), null);
  t.equal(jwtFault(remote), null);
  t.equal(jwtFault({ ...shared, issuer: '', audience: '' }), null);
  for (const bad of [
    { ...shared, jwksUrl: remote.jwksUrl },
    { ...shared, secret: '' },
    { ...shared, algorithms: ['HS256', 'RS256'] },
    { ...shared, algorithms: ['none'] },
    { ...shared, algorithms: [] },
    { ...shared, secret: 'too short' },
    { ...remote, algorithms: ['RS256', 'HS256'] },
    { ...remote, issuer: '' },
    { ...remote, audience: '' },
    { ...remote, jwksUrl: 'file:///etc/passwd' },
    { ...remote, jwksUrl: 'nonsense' },
  ]) {
    t.type(jwtFault(bad), 'string', JSON.stringify(bad));
    t.throws(() => authenticatorFor(t, setting, { jwt: bad }), /^auth\.jwt: /);
  }
});

t.test('while the store is away, a JWT of an organization that was seen goes on working', async (t) => {
  const setting = await inMemory();
  const { authenticate } = authenticatorFor(t, setting, { jwt: shared });
  const token = () => signShared(claims(setting.clock, { jti: randomBytes(4).toString('hex') }));
  await authenticate(bearer(await token()));
  setting.records.down = true;
  setting.clock.advance(60_000);
  t.equal((await authenticate(bearer(await token()))).kind, 'jwt');
});
