import { parseConfig } from '../../src/config/load.js';
import type { Config, ConfigInput } from '../../src/config/schema.js';
import { silentLog, type Log } from '../../src/core/log.js';
import { startGateway, type Gateway } from '../../src/gateway.js';
import { watchResponses } from './openapi.js';
import { startFakeProvider, type FakeProvider, type Script } from './fake-provider.js';

export const ADMIN_KEY = 'sk-test-admin-key-of-the-suite';
export const APP_KEY = 'sk-test-app-key-of-the-suite';
export const UPSTREAM_KEY = 'sk-upstream-secret-of-the-operator';

const plenty = { rpm: 1_000_000, rpd: 10_000_000, tpm: 1_000_000_000_000, concurrent: 10_000 };

/** Above what any test sends that is not about limits; such a test gives its own. */
export const generousLimits: NonNullable<ConfigInput['limits']> = {
  overrides: [
    { scope: 'organization', id: '*', ...plenty, tpd: 1_000_000_000_000 },
    { scope: 'project', id: '*', ...plenty },
    { scope: 'key', id: '*', ...plenty },
  ],
  admin: { credential_rpm: 1_000_000, organization_rpm: 1_000_000, concurrent: 10_000 },
};

interface Owner {
  teardown(run: () => Promise<void> | void): unknown;
}

/** A configuration as an operator would write it: a free port, nothing kept, the simulator, one organization. */
export const testConfig = async (changes: Partial<ConfigInput> = {}): Promise<Config> => {
  const given: ConfigInput = {
    version: 1,
    server: { port: 0 },
    store: { kind: 'embedded', path: ':memory:' },
    providers: { sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 } },
    limits: generousLimits,
    audit: { spool: { path: ':memory:' } },
    bootstrap: {
      organizations: [
        {
          id: 'org_test',
          name: 'Test',
          credits: 100_000,
          admin_keys: [{ name: 'root', value: ADMIN_KEY }],
          projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
        },
      ],
    },
    ...changes,
  };
  const loaded = await parseConfig(JSON.stringify(given), 'test.yaml', {});
  if ('faults' in loaded) throw new Error(JSON.stringify(loaded.faults));
  return loaded.config;
};

export interface Running {
  readonly gateway: Gateway;
  readonly url: string;
  /** POST with the app's key. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  /** Any request, with the administrator's key unless told otherwise. */
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Response>;
}

export interface CallOptions {
  /** A string goes as it is, anything else as JSON. */
  readonly body?: unknown;
  /** null = no credential. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

/** A whole gateway in this process; closed when the test ends. */
export const runGateway = async (
  t: Owner,
  changes: Partial<ConfigInput> = {},
  log: Log = silentLog,
): Promise<Running> => {
  const gateway = await startGateway(await testConfig(changes), { log, version: '0.0.0-test' });
  t.teardown(() => gateway.close());
  // Of two ports only the one with the probes: what the other lacks would read as a status nobody documented.
  watchResponses((gateway.adminAddress ?? gateway.address).port);
  const url = `http://127.0.0.1:${gateway.address.port}`;
  return {
    gateway,
    url,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${APP_KEY}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    call: (method, path, { body, key = ADMIN_KEY, headers = {} } = {}) =>
      fetch(url + path, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
};

export interface Fronted extends Running {
  readonly upstream: FakeProvider;
}

type RemoteKind = 'anthropic' | 'openai_chat' | 'openai_responses';

/** A gateway in front of one scripted provider that serves every model name. */
export const frontProvider = async (
  t: Owner,
  kind: RemoteKind,
  script: Script,
  changes: Partial<ConfigInput> & { readonly provider?: object; readonly model?: object } = {},
): Promise<Fronted> => {
  const { provider = {}, model = {}, ...rest } = changes;
  const upstream = await startFakeProvider(script);
  const running = await runGateway(t, {
    providers: { up: { kind, base_url: upstream.url, api_key: UPSTREAM_KEY, ...provider } },
    models: [{ name: '*', provider: 'up', price: { input_per_mtok: 3, output_per_mtok: 15 }, ...model }],
    credits: { free_request: { enabled: false } },
    ...rest,
  });
  t.teardown(() => upstream.close());
  return { ...running, upstream };
};

/** Waits for a condition rather than for luck. */
export const until = async (
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 10_000,
): Promise<void> => {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
