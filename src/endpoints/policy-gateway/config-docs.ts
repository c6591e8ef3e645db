import type { OperationDoc } from '../../core/exchange.js';
import { jsonAnswer, pageQuery } from '../administration/describe.js';
import { GatewayConfigRevisionList, NewGatewayConfig, StoredGatewayConfig } from './config-schemas.js';
import { NewSimulation, Simulation } from './simulate-schemas.js';

const tag = 'Policy gateway';

/** How the OpenAPI document tells of the gateway configuration. */
export const gatewayConfigDocs = {
  get: {
    tag,
    summary: 'Get the policy gateway configuration',
    description: 'What was never set has its default.',
    answer: jsonAnswer(StoredGatewayConfig),
  },
  save: {
    tag,
    summary: 'Save the policy gateway configuration',
    description:
      'Replaces the whole of it; what is absent takes its default, and unknown keys are kept. It acts on every replica within a second.',
    extension: true,
    replayable: true,
    body: NewGatewayConfig,
    answer: jsonAnswer(StoredGatewayConfig),
  },
  history: {
    tag,
    summary: 'List the saved configurations',
    description: 'The latest 50 at most, or as many as fit into 16 MiB.',
    extension: true,
    query: pageQuery,
    answer: jsonAnswer(GatewayConfigRevisionList),
  },
} as const satisfies Record<string, OperationDoc>;

export const simulateDoc = {
  tag,
  summary: 'Simulate a policy decision',
  description:
    'Decides by `config`, else `policy`, else the stored configuration, with the very function that decides on requests. Categories are those of `scenario`, else `categories`. `persist` writes an event, never the configuration; only then does an `Idempotency-Key` mean anything. Extension: `scenario.text` is read by every rule, and the answer then says what matched where and what would be done.',
  replayable: true,
  body: NewSimulation,
  answer: jsonAnswer(Simulation),
} as const satisfies OperationDoc;
