import * as v from 'valibot';
import { auth, bootstrap, credits } from './schema/accounts.js';
import { audit, limits, moderation, policies, sinks, telemetry, webConsole } from './schema/policing.js';
import { models, providers } from './schema/providers.js';
import { server } from './schema/server.js';
import { store } from './schema/store.js';
import { required, setting } from './schema/values.js';

/**
 * The configuration file: the one source of its types, checks, defaults and JSON Schema.
 * Once read, every key keeps its name; durations are milliseconds, times are milliseconds since 1970.
 */
export const configSchema = v.strictObject({
  version: required('Version of this format.', v.literal(1)),
  server: setting('The listener.', server, {}),
  store: setting('Where organizations, keys, policies and counters live.', store, {}),
  providers: setting('Where models are served, by a name of your own.', providers, {
    sim: { kind: 'simulator' },
  }),
  models: setting('The models clients may ask for.', models, [
    { name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0.1, output_per_mtok: 0.4 } },
  ]),
  credits: setting('Money.', credits, {}),
  auth: setting('How callers prove who they are.', auth, {}),
  bootstrap: setting('What must exist from the start; later edits go through the API.', bootstrap, {}),
  limits: setting('Rate limits; the tiers themselves are in config/tiers.yaml.', limits, {}),
  moderation: setting('Content moderation.', moderation, {}),
  policies: setting('Organization policies.', policies, {}),
  audit: setting('The audit trail.', audit, {}),
  sinks: setting('Where audit events may be sent.', sinks, {}),
  telemetry: setting('Logs, metrics, traces.', telemetry, {}),
  console: setting('The web console.', webConsole, {}),
});

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

export type ConfigInput = v.InferInput<typeof configSchema>;
export type Config = Frozen<v.InferOutput<typeof configSchema>>;
export type ProviderConfig = Config['providers'][string];
export type ModelConfig = Config['models'][number];
export type OrganizationConfig = Config['bootstrap']['organizations'][number];
