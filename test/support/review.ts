import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ConfigInput } from '../../src/config/schema.js';
import type { DialectName } from '../../src/dialects/dialect.js';
import { anthropicCaller } from '../clients/callers/anthropic.js';
import { chatCaller } from '../clients/callers/chat.js';
import { responsesCaller } from '../clients/callers/responses.js';
import type { Caller } from '../clients/scenarios.js';
import { startTalker, type Talker } from '../walks/review/talker.js';
import { runGateway, testConfig } from './gateway.js';

export const formats: readonly DialectName[] = ['messages', 'chat', 'responses'];

/** What one organization is judged by. */
export interface House {
  /** Its gateway configuration. */
  readonly gateway?: Readonly<Record<string, unknown>>;
  readonly policies?: readonly Readonly<Record<string, unknown>>[];
}

export interface Client {
  readonly caller: Caller;
  /** Requests it has sent, retries included. */
  readonly sent: () => number;
}

export type Json = Readonly<Record<string, unknown>>;

/** Several organizations behind one gateway, in front of an upstream that says what it is told to. */
export interface Desk {
  readonly url: string;
  readonly talker: Talker;
  /** A client library with its own retries, for one organization. */
  readonly client: (house: string, format: DialectName, headers?: Record<string, string>) => Client;
  readonly openai: (house: string) => OpenAI;
  /** Headers of an application of one organization. */
  readonly auth: (house: string) => Record<string, string>;
  /** POST with an application's key of one organization. */
  readonly ask: (
    house: string,
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
  /** Any request with an administrator's key of one organization. */
  readonly administer: (house: string, method: string, path: string, body?: unknown) => Promise<Json>;
  /** The latest events of one organization, newest first. */
  readonly history: (house: string, query?: string) => Promise<readonly Json[]>;
}

interface Owner {
  teardown(run: () => Promise<void> | void): unknown;
}

const appKey = (house: string): string => `sk-test-application-of-${house}`;
const adminKey = (house: string): string => `sk-test-administrator-of-${house}`;

export const price = { input_per_mtok: 3, output_per_mtok: 15 };

/** The organizations as an operator would write them. */
export const housesConfig = (
  houses: Readonly<Record<string, House>>,
  url: string,
): Pick<ConfigInput, 'providers' | 'models' | 'bootstrap' | 'credits'> => ({
  providers: {
    messages: { kind: 'anthropic', base_url: url, api_key: 'upstream-key' },
    chat: { kind: 'openai_chat', base_url: `${url}/v1`, api_key: 'upstream-key' },
    responses: { kind: 'openai_responses', base_url: `${url}/v1`, api_key: 'upstream-key' },
    sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 },
  },
  models: [
    ...formats.map((format) => ({ name: `on-${format}`, provider: format, price })),
    { name: 'sim-small', provider: 'sim' },
  ],
  credits: { free_request: { enabled: false } },
  bootstrap: {
    organizations: Object.entries(houses).map(([name, { gateway, policies = [] }]) => ({
      id: `org_${name}`,
      name,
      plan: 'scale' as const,
      admin_keys: [{ name: 'root', value: adminKey(name) }],
      projects: [{ id: `proj_${name}`, name, keys: [{ name: 'app', value: appKey(name) }] }],
      policies: policies.map((policy, i) => ({
        id: `pol_${name}_${i}`,
        name: `${name} ${i}`,
        mode: 'enforcing' as const,
        ...(policy as { rule: string }),
      })),
      gateway: gateway ?? null,
    })),
  },
});

const open = (
  format: DialectName,
  url: string,
  apiKey: string,
  defaultHeaders: Record<string, string>,
  counted: typeof fetch,
): Caller => {
  if (format === 'messages')
    return anthropicCaller(new Anthropic({ baseURL: url, apiKey, defaultHeaders, fetch: counted }));
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders, fetch: counted });
  return format === 'chat' ? chatCaller(client) : responsesCaller(client);
};

/** An administrator's request was not granted. */
export class Refused extends Error {
  readonly status: number;
  readonly json: Json;

  constructor(what: string, status: number, json: Json) {
    super(`${what}: ${status} ${JSON.stringify(json)}`);
    this.status = status;
    this.json = json;
  }
}

export const openDesk = async (
  t: Owner,
  houses: Readonly<Record<string, House>>,
  changes: Partial<ConfigInput> = {},
): Promise<Desk> => {
  const talker = await startTalker();
  t.teardown(() => talker.close());
  const { url } = await runGateway(t, { ...housesConfig(houses, talker.url), ...changes });
  return deskOf(url, talker);
};

export interface DistantDesk extends Desk {
  /** How long the gateway's loop was held up at most since this was last asked. */
  readonly heldMs: () => Promise<number>;
}

/** The same with the gateway in a process of its own. */
export const openDistantDesk = async (
  t: Owner,
  houses: Readonly<Record<string, House>>,
): Promise<DistantDesk> => {
  const talker = await startTalker();
  t.teardown(() => talker.close());
  const child = fork(new URL('../walks/review/gateway-child.js', import.meta.url));
  const hear = async (word: unknown): Promise<Readonly<Record<string, number>>> => {
    child.send(word as object);
    return (await once(child, 'message'))[0] as Record<string, number>;
  };
  const { port } = await hear(await testConfig(housesConfig(houses, talker.url)));
  t.teardown(async () => {
    const exited = once(child, 'exit');
    child.send('close');
    await exited;
  });
  return {
    ...deskOf(`http://127.0.0.1:${port}`, talker),
    heldMs: async () => (await hear('held'))['heldMs']!,
  };
};

/** What can be asked of a gateway that serves such houses. */
export const deskOf = (url: string, talker: Talker): Desk => {
  const auth = (house: string) => ({ authorization: `Bearer ${appKey(house)}` });
  const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const administer = async (house: string, method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await send(method, path, body, { authorization: `Bearer ${adminKey(house)}` });
    const json = (await response.json()) as Json;
    if (!response.ok) throw new Refused(`${method} ${path}`, response.status, json);
    return json;
  };
  return {
    url,
    talker,
    auth,
    administer,
    openai: (house) => new OpenAI({ baseURL: `${url}/v1`, apiKey: appKey(house) }),
    client: (house, format, headers = {}) => {
      let sent = 0;
      const counted: typeof fetch = (...given) => {
        sent++;
        return fetch(...given);
      };
      return { caller: open(format, url, appKey(house), headers, counted), sent: () => sent };
    },
    ask: (house, path, body, headers = {}) => send('POST', path, body, { ...auth(house), ...headers }),
    history: async (house, query = '') =>
      (await administer(house, 'GET', `/api/policy-gateway/history?limit=100${query}`))[
        'data'
      ] as readonly Json[],
  };
};
