import { parseConfig } from '../../src/config/load.js';
import type { ConfigInput } from '../../src/config/schema.js';
import { startGateway } from '../../src/gateway.js';
import { createLog } from '../../src/io/log/log.js';
import { BENCH_KEY } from './load.js';
import { tellMeasures } from './measures.js';

// A whole gateway as it is deployed, in front of the three formats of one upstream. Its moderation: `off`, `async` (it reads all and holds nothing back), or as shipped.
const [, , url, moderation] = process.argv;
const provider = { api_key: 'upstream-key', max_connections: 8_192 };
const plenty = { id: '*', rpm: 1e9, rpd: 1e9, tpm: 1e12, concurrent: 1e6 };
const given: ConfigInput = {
  version: 1,
  server: { port: 0 },
  store: { path: ':memory:' },
  providers: {
    messages: { kind: 'anthropic', base_url: url!, ...provider },
    chat: { kind: 'openai_chat', base_url: `${url!}/v1`, ...provider },
    responses: { kind: 'openai_responses', base_url: `${url!}/v1`, ...provider },
  },
  models: ['messages', 'chat', 'responses'].map((name) => ({
    name: `${name}-*`,
    provider: name,
    price: { input_per_mtok: 3, output_per_mtok: 15 },
  })),
  ...(moderation === 'off' && { moderation: { engine: 'off' } }),
  ...(moderation === 'async' && { moderation: { stream: 'async' } }),
  credits: { free_request: { enabled: false } },
  limits: { overrides: (['organization', 'project', 'key'] as const).map((scope) => ({ scope, ...plenty })) },
  bootstrap: {
    organizations: [
      {
        id: 'org_bench',
        name: 'Bench',
        projects: [{ id: 'proj_bench', name: 'Bench', keys: [{ name: 'bench', value: BENCH_KEY }] }],
      },
    ],
  },
};
const loaded = await parseConfig(JSON.stringify(given), 'bench.yaml', {});
if ('faults' in loaded) throw new Error(JSON.stringify(loaded.faults));
const gateway = await startGateway(loaded.config, {
  log: createLog({ level: 'info', format: 'json', version: '0' }),
  version: '0',
});
process.send!(gateway.address.port);
tellMeasures();
