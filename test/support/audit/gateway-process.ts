import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigInput } from '../../../src/config/schema.js';
import { startSluice } from '../../commands/sluice.js';
import { readExposition } from '../exposition.js';
import { ADMIN_KEY, APP_KEY, generousLimits, until, type CallOptions } from '../gateway.js';
import type { Destination } from '../sinks/destinations.js';

interface Owner {
  teardown(run: () => Promise<void> | void): unknown;
}

/** A gateway in a process of its own, to be killed and looked at from outside. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** All it has printed so far. */
  printed(): string;
  /** Any request, with the administrator's key unless told otherwise. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>;
  /** The sum of a metric over the series that have these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  kill(): Promise<void>;
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number | null>;
}

export const ORGANIZATION = 'org_test';
export const DENIED_TERM = 'xylophone-of-doom';

export const folderFor = (t: Owner): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** One organization whose gateway configuration refuses a term; sinks may lead to this machine. */
export const auditConfig = (folder: string, changes: Partial<ConfigInput> = {}): ConfigInput => ({
  version: 1,
  server: { port: 0, drain: { delay: '0s', grace: '5s' } },
  store: { kind: 'embedded', path: join(folder, 'store') },
  providers: { sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 } },
  limits: generousLimits,
  audit: { spool: { path: join(folder, 'audit'), min_free_bytes: 0 } },
  sinks: { allow_insecure: true, allow_private_hosts: ['127.0.0.1'] },
  telemetry: { logs: { format: 'json', level: 'info' } },
  bootstrap: {
    organizations: [
      {
        id: ORGANIZATION,
        name: 'Test',
        credits: 1_000_000_000,
        admin_keys: [{ name: 'root', value: ADMIN_KEY, permissions: ['*', 'credits.write'] }],
        projects: [{ id: 'proj_app', name: 'App', keys: [{ name: 'app', value: APP_KEY }] }],
        gateway: { rules: { denylist: [DENIED_TERM] } },
      },
    ],
  },
  ...changes,
});

export const startGatewayProcess = async (
  t: Owner,
  folder: string,
  config: ConfigInput = auditConfig(folder),
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> => {
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { child, out, err, finished } = startSluice(['serve', '--config', file], { cwd: folder, env });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await finished).code;
  };
  t.teardown(() => end('SIGKILL').then(() => undefined));
  const listening = (): string | undefined =>
    out()
      .split('\n')
      .find((line) => line.includes('"listening"'));
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`The gateway ended: ${out()} ${err()}`);
      return listening() !== undefined;
    },
    'the gateway listens',
    60_000,
  );
  const { port } = JSON.parse(listening()!) as { readonly port: number };
  const url = `http://127.0.0.1:${port}`;
  const call: GatewayProcess['call'] = (method, path, { body, key = ADMIN_KEY, headers = {} } = {}) =>
    fetch(url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    url,
    pid: child.pid!,
    printed: () => `${out()}\n${err()}`,
    call,
    metric: async (name, labels = {}) => {
      const samples = readExposition(await (await call('GET', '/metrics', { key: null })).text());
      return samples
        .filter((one) => one.name === name && Object.entries(labels).every(([k, v]) => one.labels[k] === v))
        .reduce((sum, { value }) => sum + value, 0);
    },
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
};

export interface ShownExport {
  readonly id: string;
  readonly last_success_at: string | null;
  readonly last_error_at: string | null;
  readonly last_error: string | null;
}

export const exportIn = async (response: Response): Promise<ShownExport> => {
  const body = (await response.json()) as { readonly export?: ShownExport };
  if (!body.export) throw new Error(`no export: ${response.status} ${JSON.stringify(body)}`);
  return body.export;
};

/** Makes a sink that leads to a destination. */
export const createExport = async (
  { call }: Pick<GatewayProcess, 'call'>,
  { type, config }: Pick<Destination, 'type' | 'config'>,
  key?: string,
): Promise<ShownExport> =>
  exportIn(
    await call('POST', '/api/policy-gateway/exports', {
      body: { type, label: type, config },
      ...(key !== undefined && { key }),
    }),
  );

export interface ShownEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly request_id: string | null;
  readonly reason_code: string | null;
  readonly endpoint: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Everything that the history still has, newest first. */
export const historyOf = async (
  { call }: Pick<GatewayProcess, 'call'>,
  query = '',
  key?: string,
): Promise<ShownEvent[]> => {
  const events: ShownEvent[] = [];
  for (let after = ''; ;) {
    const path = `/api/policy-gateway/history?limit=100${query}${after}`;
    const page = (await (await call('GET', path, key === undefined ? {} : { key })).json()) as {
      readonly data: readonly ShownEvent[];
      readonly has_more: boolean;
    };
    events.push(...page.data);
    if (!page.has_more) return events;
    after = `&after=${page.data.at(-1)!.event_id}`;
  }
};
