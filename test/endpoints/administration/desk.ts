import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ConfigInput } from '../../../src/config/schema.js';
import { ADMIN_KEY, APP_KEY, runGateway } from '../../support/gateway.js';
import { startRedis, type RedisServer } from '../../support/redis.js';

export const OTHER_KEY = 'sk-test-admin-key-of-another-organization';
export const PEPPER = 'a-pepper-of-the-suite-0123456789abcdef';

/** Two organizations; admission is the limits' own matter, so nothing is refused for haste here. */
export const settings = {
  auth: { pepper: PEPPER },
  limits: { enforce: false },
  bootstrap: {
    organizations: [
      {
        id: 'org_test',
        name: 'Test',
        admin_keys: [{ name: 'root', value: ADMIN_KEY }],
        projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
      },
      { id: 'org_other', name: 'Other', admin_keys: [{ name: 'root', value: OTHER_KEY }] },
    ],
  },
} satisfies Partial<ConfigInput>;

export type StoreInput = NonNullable<ConfigInput['store']>;

export interface StoreUnderTest {
  readonly name: string;
  /** A store of its own for each test. */
  store(t: Test): Promise<StoreInput>;
}

let redis: Promise<RedisServer> | null = null;
let prefixes = 0;

/** One Redis for all tests of a file. */
const sharedRedis = (): Promise<RedisServer> => {
  redis ??= startRedis().then((server) => {
    t.teardown(() => server.stop());
    return server;
  });
  return redis;
};

export const folderFor = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-policies-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const stores: readonly StoreUnderTest[] = [
  { name: 'embedded', store: async () => ({ kind: 'embedded', path: ':memory:' }) },
  {
    name: 'redis',
    store: async () => ({
      kind: 'redis',
      redis: { url: (await sharedRedis()).url, key_prefix: `p${prefixes++}:`, command_timeout: '5s' },
    }),
  },
];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What the tests look at; the shapes themselves are checked against the OpenAPI document. */
export interface Body {
  readonly id: string;
  readonly object: string;
  readonly name: string;
  readonly description: string;
  readonly state: string;
  readonly revision: number;
  readonly current_version: number | null;
  readonly has_unpublished_changes: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly draft: Terms & { readonly base_version: number | null };
  readonly published: (Terms & { readonly version: number; readonly current: boolean }) | null;
  readonly data: readonly Body[];
  readonly has_more: boolean;
  readonly first_id?: string;
  readonly last_id?: string;
  readonly version: number;
  readonly current: boolean;
  readonly rule: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
    readonly type: string;
  };
}

interface Terms {
  readonly rule: string;
  readonly direction: string;
  readonly mode: string;
  readonly scope: string;
  readonly project_ids: readonly string[];
  readonly match_threshold_basis_points: number | null;
}

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Asks below `/v1/organization` with an administrator key. */
export const askerFor =
  (url: string, key = ADMIN_KEY): Ask =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/v1/organization${path}`, {
      method,
      headers: {
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };

export interface Desk {
  readonly url: string;
  readonly ask: Ask;
  /** A policy as it is right after its creation. */
  create(changes?: object): Promise<Body>;
  close(): Promise<void>;
}

export const openDesk = async (
  t: Test,
  store: StoreInput,
  changes: Partial<ConfigInput> = {},
): Promise<Desk> => {
  const { url, gateway } = await runGateway(t, { ...settings, store, ...changes });
  const ask = askerFor(url);
  return {
    url,
    ask,
    create: async (given = {}) => {
      const { status, body } = await ask('POST', '/policies', {
        name: 'No secrets',
        rule: 'Mentions secrets.',
        ...given,
      });
      if (status !== 200) throw new Error(`not created: ${JSON.stringify(body)}`);
      return body;
    },
    close: () => gateway.close(),
  };
};

/** The same test on both stores. */
export const onBoth = (
  name: string,
  run: (t: Test, desk: Desk, store: StoreInput) => Promise<void>,
): void => {
  for (const each of stores)
    void t.test(`${name} [${each.name}]`, async (t) => {
      const store = await each.store(t);
      await run(t, await openDesk(t, store), store);
    });
};
