import * as v from 'valibot';
import { adminPermissions, projectPermissions } from '../../core/principal.js';
import {
  amount,
  idOf,
  integer,
  modelName,
  modelPattern,
  optionalAddress,
  required,
  setting,
  word,
} from './values.js';

export const credits = v.strictObject({
  usd_per_credit: setting('What one credit is worth.', amount(0.000_000_001, 1_000_000), 0.0001),
  free_request: setting(
    'The one anonymous request per client address (X-Free-Tier: true).',
    v.strictObject({
      enabled: setting('Whether it is given.', v.boolean(), true),
      model: setting('The model it may use.', modelName, 'sim-small'),
      max_tokens: setting('Most output tokens it may have.', integer(1, 1_000_000), 256),
    }),
    {},
  ),
});

const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
const SYMMETRIC = ['HS256', 'HS384', 'HS512'] as const;

const jwt = v.pipe(
  v.strictObject({
    enabled: setting('Whether JWTs are accepted on inference.', v.boolean(), false),
    issuer: setting('Required iss claim; needed with jwks_url.', v.string(), ''),
    audience: setting('Required aud claim; needed with jwks_url.', v.string(), ''),
    jwks_url: setting('Where the public keys are; or give secret.', optionalAddress, ''),
    secret: setting('Shared secret for HS algorithms; or give jwks_url.', v.string(), ''),
    algorithms: v.pipe(
      v.optional(
        v.pipe(v.array(v.picklist([...ASYMMETRIC, ...SYMMETRIC])), v.minLength(1, 'name at least one')),
      ),
      v.description(
        'Accepted signature algorithms; default RS256, ES256, EdDSA, or HS256 where secret is given.',
      ),
    ),
  }),
  v.transform((given) => ({
    ...given,
    algorithms:
      given.algorithms ??
      (given.secret === '' ? (['RS256', 'ES256', 'EdDSA'] as const) : (['HS256'] as const)),
  })),
);

export const auth = v.strictObject({
  pepper: setting(
    'Secret (32 bytes or more) under which keys are hashed. Empty: generated into the embedded store; Redis needs one.',
    v.string(),
    '',
  ),
  jwt: setting('Tokens from your own identity provider.', jwt, {}),
  max_admin_keys: setting('Most administrator keys of an organization.', integer(1, 100_000), 100),
  max_projects: setting('Most projects of an organization.', integer(1, 100_000), 1_000),
  max_project_keys: setting('Most keys of a project.', integer(1, 100_000), 1_000),
});

const keyValue = v.pipe(
  v.string(),
  v.check(
    (text) => text === 'generate' || /^[\u0021-\u007e]{20,512}$/.test(text),
    'must be "generate", or the whole key: 20 to 512 visible ASCII characters',
  ),
  v.check(
    (text) => text.split('.').length !== 3,
    'must not have three parts with dots between: it would be read as a JWT',
  ),
);

const expiry = v.pipe(
  v.string(),
  v.check(
    (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
    'must be a time such as 2031-01-31T00:00:00Z',
  ),
  v.transform((text) => Date.parse(text)),
);

const adminKey = v.strictObject({
  name: required('Unique among the keys of the organization.', word(100)),
  value: setting('The whole key, or "generate".', keyValue, 'generate'),
  permissions: setting('What it may do.', v.array(v.picklist(['*', ...adminPermissions])), ['*']),
});

const projectKey = v.strictObject({
  name: required('Unique among the keys of the project.', word(100)),
  value: setting('The whole key, or "generate".', keyValue, 'generate'),
  permissions: setting('What it may do.', v.array(v.picklist(projectPermissions)), [...projectPermissions]),
  models: setting(
    'Models it may use, by name or beginning ("claude-*").',
    v.pipe(v.array(modelPattern), v.minLength(1, 'name at least one; "*" is all of them')),
    ['*'],
  ),
  expires_at: setting('When it ends, such as 2031-01-31T00:00:00Z; null = never.', v.nullable(expiry), null),
  credit_budget: setting(
    'Most credits it may spend; null = no bound of its own.',
    v.nullable(integer(0)),
    null,
  ),
});

const project = v.strictObject({
  id: required('Begins with proj_.', idOf('proj')),
  name: required('What people call it.', word(200)),
  keys: setting('Its API keys.', v.array(projectKey), []),
});

const policy = v.strictObject({
  id: required('Begins with pol_.', idOf('pol')),
  name: required('What people call it.', word(80)),
  description: setting(
    'Why it exists.',
    v.pipe(v.string(), v.maxLength(240, 'must have at most 240 characters')),
    '',
  ),
  rule: required('Prose, or an expression after "cel:".', word(20_000)),
  direction: setting('What it reads.', v.picklist(['request', 'response', 'both']), 'both'),
  mode: setting('Record only, or refuse.', v.picklist(['monitoring', 'enforcing']), 'monitoring'),
  scope: setting('Where it acts.', v.picklist(['organization', 'projects', 'unattached']), 'organization'),
  project_ids: setting(
    'With scope projects: which.',
    v.pipe(v.array(idOf('proj')), v.maxLength(1_000, 'must have at most 1000 items')),
    [],
  ),
  match_threshold_basis_points: setting(
    'Score from which it matches, 1 to 9999; null = 5000.',
    v.nullable(integer(1, 9_999)),
    null,
  ),
  publish: setting('Whether it is published when created.', v.boolean(), true),
});

const organization = v.strictObject({
  id: required('Begins with org_.', idOf('org')),
  name: required('What people call it.', word(200)),
  plan: setting('Its subscription.', v.picklist(['free', 'developer', 'growth', 'scale']), 'free'),
  lifetime_paid_usd: setting('What it has paid so far; raises its tier.', amount(), 0),
  credits: setting('Its first balance; null = not metered.', v.nullable(integer(0)), null),
  admin_keys: setting('Keys for /v1/organization/*.', v.array(adminKey), []),
  projects: setting('Its projects and their keys.', v.array(project), []),
  policies: setting('Organization policies.', v.array(policy), []),
  gateway: setting(
    'A policy gateway configuration; null = none.',
    v.nullable(v.record(v.string(), v.unknown())),
    null,
  ),
});

export const bootstrap = v.strictObject({
  organizations: setting('Created if absent, by id, at every start and reload.', v.array(organization), []),
});
