import type { ConfigInput } from './schema.js';

/** What runs without a file: the simulator, an embedded store in the working directory, one organization. */
export const builtIn: ConfigInput = {
  version: 1,
  auth: { pepper: '${SLUICE_PEPPER:-}' },
  bootstrap: {
    organizations: [
      {
        id: 'org_demo',
        name: 'Demo',
        plan: 'free',
        credits: 100_000,
        admin_keys: [{ name: 'root', value: '${SLUICE_ADMIN_KEY:-generate}' }],
        projects: [
          { id: 'proj_app', name: 'App', keys: [{ name: 'app', value: '${SLUICE_APP_KEY:-generate}' }] },
        ],
      },
    ],
  },
};
