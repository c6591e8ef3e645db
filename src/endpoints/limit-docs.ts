import type { OperationDoc } from '../core/exchange.js';
import { id, jsonAnswer } from './administration/describe.js';
import { CreditBalance, LimitReadings, RefusalExplanation } from './limit-schemas.js';

const readings =
  'Where every scope stands: requests and tokens per minute and day, requests at once, credits. Reading counts in no limit of inference.';

/** How the OpenAPI document tells of limits and credits. */
export const limitDocs = {
  credits: {
    tag: 'Credits',
    summary: 'Read the credit balance',
    description:
      'At most 5 seconds old. A 503 has the code `credit_balance_unavailable` and a `Retry-After`.',
    answer: jsonAnswer(CreditBalance),
  },
  own: {
    tag: 'Limits',
    summary: 'Read the limits of the key that asks',
    description: readings,
    extension: true,
    answer: jsonAnswer(LimitReadings),
  },
  organization: {
    tag: 'Limits',
    summary: 'Read the limits of the organization, a project or a key',
    description: readings,
    extension: true,
    query: {
      project_id: { about: 'Also the limits of this project.', schema: id },
      key_id: { about: 'Also the limits of this key; needs `project_id`.', schema: id },
    },
    answer: jsonAnswer(LimitReadings),
  },
  request: {
    tag: 'Limits',
    summary: 'Explain why a request was refused',
    description:
      'Kept for one hour. For the key or the project that sent the request, or an administrator with `limits.read`.',
    extension: true,
    statuses: [403],
    answer: jsonAnswer(RefusalExplanation),
  },
} as const satisfies Record<string, OperationDoc>;
