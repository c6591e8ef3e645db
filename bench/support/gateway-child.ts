import { parseConfig } from '../../src/config/load.js';
import { createLog } from '../../src/io/log/log.js';
import { startGateway } from '../../src/gateway.js';
import { BENCH_KEY } from './load.js';
import { tellCpu } from './cpu.js';

// A whole gateway as it is deployed, its access lines written as JSON.
const given = {
  version: 1,
  server: { port: 0 },
  store: { path: ':memory:' },
  providers: { up: { kind: 'anthropic', base_url: process.argv[2], api_key: 'upstream-key' } },
  models: [{ name: 'bench', provider: 'up', price: { input_per_mtok: 3, output_per_mtok: 15 } }],
  credits: { free_request: { enabled: false } },
  limits: {
    overrides: ['organization', 'project', 'key'].map((scope) => ({
      scope,
      id: '*',
      rpm: 1_000_000_000,
      rpd: 1_000_000_000,
      tpm: 1_000_000_000_000,
      concurrent: 1_000_000,
    })),
  },
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
tellCpu();
