import t from 'tap';
import { configOf, faultsOf } from './read.js';

const after = (faults: string[]): string[] =>
  faults.map((fault) => fault.replace(/^gateway\.yaml:\d+:\d+ /, ''));
const conflicts = async (text: string): Promise<string[]> => after(await faultsOf(`version: 1\n${text}`));

t.test('D46 models must lead to providers and fallbacks that exist', async (t) => {
  const faults = await conflicts(`
providers: { sim: { kind: simulator }, claude: { kind: anthropic, base_url: "https://a.example" } }
models:
  - { name: sim-small, provider: sm, fallbacks: [sim-small, claude-3, sim-smal] }
  - { name: "claude-*", aliases: [best], provider: claude, fallbacks: [best] }
  - { name: best, provider: sim }
`);
  t.strictSame(faults, [
    'models[0].provider: is not a name under providers; did you mean sim?',
    'models[0].fallbacks[0]: is the model itself',
    'models[0].fallbacks[2]: is not a configured model; did you mean sim-small?',
    'models[1].fallbacks[0]: is the model itself',
    'models[2].name: is taken by another model',
  ]);
  t.strictSame(await conflicts('models: []'), ['models: is empty; name at least one model']);
  t.strictSame(await conflicts('providers: { p: { kind: simulator } }'), [
    'models: is missing; name at least one model of your providers',
  ]);
});

t.test('D48 Redis without a pepper is a startup error, and a short pepper always', async (t) => {
  t.strictSame(await conflicts('store: { kind: redis }'), [
    'auth.pepper: must be set when store.kind is redis: every replica has to hash keys alike',
  ]);
  t.strictSame(await conflicts('auth: { pepper: short }'), ['auth.pepper: must have at least 32 bytes']);
  const redis = `auth: { pepper: ${'p'.repeat(32)} }\nstore: { kind: redis, redis:`;
  t.strictSame(await conflicts(`${redis} { url: "" } }`), [
    'store.redis.url: must not be empty without cluster or sentinel',
  ]);
  t.strictSame(await conflicts(`${redis} { cluster: ["a:1"], sentinel: { master: m, nodes: ["b:2"] } } }`), [
    'store.redis.sentinel: cannot be combined with store.redis.cluster',
  ]);
});

t.test('D33 a JWT set-up that cannot verify, or verifies too much, is refused', async (t) => {
  const jwt = (keys: string) => conflicts(`auth: { jwt: { enabled: true, ${keys} } }`);
  const named = 'issuer: i, audience: a';
  const jwks = 'jwks_url: "https://id.example/keys"';
  t.strictSame(await jwt(''), ['auth.jwt.enabled: needs jwks_url or secret beside it']);
  t.match(await jwt(`${named}, ${jwks}, secret: s`), [
    /^auth\.jwt\.secret: cannot be combined with jwks_url/,
  ]);
  t.strictSame(await jwt(`${named}, ${jwks}, algorithms: [RS256, HS256]`), [
    'auth.jwt.algorithms[1]: needs secret, not jwks_url',
  ]);
  t.strictSame(await jwt('secret: s, algorithms: [HS256, RS256]'), [
    'auth.jwt.algorithms[1]: needs jwks_url; with secret only HS256, HS384, HS512',
  ]);
  t.match(await jwt(jwks), [/^auth\.jwt\.issuer: must be set/, /^auth\.jwt\.audience: must be set/]);
  t.strictSame(await jwt(`${named}, ${jwks}`), []);
  const config = await configOf('version: 1\nauth: { jwt: { enabled: true, secret: s } }');
  t.strictSame(config.auth.jwt.algorithms, ['HS256']);
});

t.test('D46 paths and ports that would hide each other are refused', async (t) => {
  t.strictSame(await conflicts('server: { port: 9, admin_port: 9 }'), [
    'server.admin_port: must differ from server.port',
  ]);
  t.strictSame(await conflicts('telemetry: { metrics: { path: /readyz } }'), [
    'telemetry.metrics.path: is a path of the gateway itself',
  ]);
  t.strictSame(await conflicts('telemetry: { metrics: { path: /console/m } }'), [
    'console.path: must not cover telemetry.metrics.path',
  ]);
  const pass = (path: string) =>
    `{ kind: openai_chat, base_url: "http://h/v1", passthrough: [{ path: ${path}, unmoderated: true }] }`;
  t.strictSame(
    await conflicts(
      `providers: { sim: { kind: simulator }, a: ${pass('/v1/x')}, b: ${pass('/v1/x')}, c: ${pass('/v1/messages/y')} }`,
    ),
    [
      'providers.b.passthrough[0].path: is already passed to another provider',
      'providers.c.passthrough[0].path: is a path of the gateway itself',
    ],
  );
});

t.test('a limit that cannot act is refused', async (t) => {
  const faults = await conflicts(`
limits:
  overrides:
    - { scope: key, id: key_1, tpd: 5 }
    - { scope: project, id: "*" }
    - { scope: key, id: key_1, rpm: 5 }
moderation: { engine: http }
`);
  t.strictSame(faults, [
    'limits.overrides[0].tpd: has no effect here: tokens a day are limited per organization only',
    'limits.overrides[1]: changes no limit',
    'limits.overrides[2].id: has an override for this key already',
    'moderation.http.url: must be set when moderation.engine is http',
  ]);
});

t.test('D47 bootstrap ids, names and secrets must be unique, and secrets usable', async (t) => {
  const faults = await conflicts(`
bootstrap:
  organizations:
    - id: org_a
      name: A
      admin_keys: [{ name: root, value: "aaaaaaaaaaaaaaaaaaaaaaaa" }, { name: root }]
      projects:
        - { id: proj_x, name: X, keys: [{ name: k, value: "aaaaaaaaaaaaaaaaaaaaaaaa" }, { name: l }, { name: l }] }
        - { id: proj_x, name: Y }
      policies:
        - { id: pol_1, name: p, rule: r, scope: projects }
        - { id: pol_2, name: p, rule: r, project_ids: [proj_x] }
    - { id: org_a, name: B }
`);
  t.strictSame(faults.sort(), [
    'bootstrap.organizations[0].admin_keys[1].name: is used twice',
    'bootstrap.organizations[0].policies[0].project_ids: must name a project when scope is projects',
    'bootstrap.organizations[0].policies[1].project_ids: must be empty unless scope is projects',
    'bootstrap.organizations[0].projects[0].keys[0].value: is the value of another key too',
    'bootstrap.organizations[0].projects[0].keys[2].name: is used twice',
    'bootstrap.organizations[0].projects[1].id: is used twice',
    'bootstrap.organizations[1].id: is used twice',
  ]);
  const key = (value: string) =>
    conflicts(
      `bootstrap: { organizations: [{ id: org_a, name: A, admin_keys: [{ name: k, value: "${value}" }] }] }`,
    );
  t.match(await key('too-short'), [/must be "generate", or the whole key/]);
  t.match(await key('with a space in the middle of it'), [/must be "generate", or the whole key/]);
  t.match(await key('aaaaaaaaaaaa.bbbbbbbbbbbb.cccccccccccc'), [/read as a JWT/]);
  t.strictSame(await key('any-string-of-20-characters'), []);
});

t.test('D34 the free request is on only where its model exists', async (t) => {
  const own = `version: 1
providers: { p: { kind: anthropic, base_url: "https://a.example" } }
models: [{ name: big, provider: p }]
`;
  t.equal((await configOf('version: 1')).credits.free_request.enabled, true);
  t.equal((await configOf(own)).credits.free_request.enabled, false, 'not on a paid model unasked');
  t.match(await faultsOf(`${own}credits: { free_request: { enabled: true } }`), [
    /credits\.free_request\.model: is not a configured model$/,
  ]);
  t.equal(
    (await configOf(`${own}credits: { free_request: { model: big } }`)).credits.free_request.enabled,
    true,
  );
});

t.test('D46 a fault in one section does not hide conflicts in others', async (t) => {
  t.strictSame(await conflicts('server: { port: many }\nauth: { pepper: short }'), [
    'server.port: must be a number',
    'auth.pepper: must have at least 32 bytes',
  ]);
});
