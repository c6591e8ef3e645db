import type { OperationDoc } from '../../core/exchange.js';
import { CreditGrant, NewCreditGrant, NewPayment, Payment, UsageList } from './billing-schemas.js';
import { id, jsonAnswer, pageQuery } from './describe.js';
import { text } from './parse.js';

const day = { type: 'string', format: 'date' };

/** How the OpenAPI document tells of grants, payments and usage. */
export const billingDocs = {
  grant: {
    tag: 'Credits',
    summary: 'Add credits to the balance',
    description: 'Acts on the next request. `*` does not include the permission for it.',
    extension: true,
    replayable: true,
    body: NewCreditGrant,
    answer: jsonAnswer(CreditGrant),
  },
  pay: {
    tag: 'Credits',
    summary: 'Record a payment',
    description: 'It may raise the tier, from the next request on; it adds no credits.',
    extension: true,
    replayable: true,
    body: NewPayment,
    answer: jsonAnswer(Payment),
  },
  usage: {
    tag: 'Usage',
    summary: 'Read requests, tokens, credits and cost by day, project, key and model',
    description: 'Days are UTC. What was settled in the last seconds may be missing; kept for 400 days.',
    extension: true,
    query: {
      from: { about: 'The first day; 30 days ago where it is absent.', schema: day },
      to: { about: 'The last day; today where it is absent.', schema: day },
      project_id: { about: 'Only this project.', schema: id },
      key_id: { about: 'Only this key.', schema: id },
      model: { about: 'Only this model.', schema: text(1, 200) },
      after: { about: '`last_id` of the page before.', schema: text(1, 300) },
      limit: pageQuery['limit']!,
    },
    answer: jsonAnswer(UsageList),
  },
} as const satisfies Record<string, OperationDoc>;
