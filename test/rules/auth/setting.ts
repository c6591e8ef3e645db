import { defaultAccountLimits, type Accounts } from '../../../src/rules/auth/accounts.js';
import {
  createAuthenticator,
  type Arrival,
  type AuthenticatorOptions,
} from '../../../src/rules/auth/authenticate.js';
import { createOrganization } from '../../../src/rules/auth/organizations.js';
import { createProject } from '../../../src/rules/auth/projects.js';
import { openEmbeddedRecords } from '../../../src/io/records/embedded.js';
import type { Records } from '../../../src/io/records/records.js';
import type { GatewayError } from '../../../src/core/errors.js';
import type { Principal } from '../../../src/core/principal.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryRecords } from '../../support/memory-records.js';

export const PEPPER = Buffer.from('0123456789abcdef0123456789abcdef');

interface Subject {
  teardown(undo: () => unknown): unknown;
}

export interface Setting<R extends Records = MemoryRecords> {
  readonly clock: ManualClock;
  readonly records: R;
  readonly accounts: Accounts;
}

const settle = async <R extends Records>(records: R, clock: ManualClock): Promise<Setting<R>> => {
  const accounts: Accounts = { records, pepper: PEPPER, clock, limits: defaultAccountLimits };
  await createOrganization(accounts, { id: 'org_demo', name: 'Demo', plan: 'developer' });
  await createProject(accounts, 'org_demo', { id: 'proj_app', name: 'App' });
  return { clock, records, accounts };
};

/** An organization `org_demo` with a project `proj_app`, in memory. */
export const inMemory = async (): Promise<Setting> => {
  const clock = new ManualClock();
  return settle(new MemoryRecords(clock), clock);
};

/** Both stores of a single process, for what must hold on any. */
export const stores: Readonly<Record<string, (t: Subject) => Promise<Setting<Records>>>> = {
  memory: inMemory,
  embedded: async (t) => {
    const records = await openEmbeddedRecords({ path: ':memory:' });
    t.teardown(() => records.close());
    return settle(records, new ManualClock());
  },
};

/** An authenticator that is closed with the test. */
export const authenticatorFor = (
  t: Subject,
  setting: { readonly records: Records; readonly clock: ManualClock },
  options: Partial<AuthenticatorOptions> = {},
) => {
  const { records, clock } = setting;
  const authenticator = createAuthenticator({ records, clock, pepper: PEPPER, ...options });
  t.teardown(() => authenticator.close());
  return authenticator;
};

export const bearer = (token: string, over: Partial<Arrival> = {}): Arrival => ({
  headers: { authorization: `Bearer ${token}` },
  rule: 'inference',
  family: 'messages',
  clientAddress: '192.0.2.1',
  ...over,
});

/** The error something ends with; fails when it does not. */
export const refusalOf = async (attempt: Promise<unknown>): Promise<GatewayError> =>
  attempt.then(
    (value) => {
      throw new Error(`not refused: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error as GatewayError,
  );

export const principalWith = (...permissions: readonly string[]): Principal => ({
  kind: 'admin',
  organization: { id: 'org_demo', name: 'Demo', plan: 'developer', lifetimePaidUsd: 0, metered: false },
  projectId: null,
  keyId: 'key_creator',
  permissions: new Set(permissions),
  models: null,
  creditBudget: null,
});
