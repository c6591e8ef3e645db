import type { OperationDoc } from '../../core/exchange.js';
import { jsonAnswer, pageQuery } from './describe.js';
import * as policies from './policy-schemas.js';

const tag = 'Policies';
const answer = jsonAnswer(policies.Policy);

/** How the OpenAPI document tells of policies. */
export const policyDocs = {
  list: { tag, summary: 'List policies', query: pageQuery, answer: jsonAnswer(policies.PolicyList) },
  get: { tag, summary: 'Read a policy', extension: true, answer },
  create: {
    tag,
    summary: 'Create a policy as a draft',
    description: 'It acts on nothing until it is published.',
    extension: true,
    replayable: true,
    body: policies.NewPolicy,
    answer,
  },
  update: {
    tag,
    summary: 'Update a policy draft',
    description:
      'A field that is absent or null stays as it is, but a null threshold clears it. A call that changes nothing keeps the revision.',
    replayable: true,
    body: policies.PolicyUpdate,
    answer,
  },
  publish: {
    tag,
    summary: 'Publish a policy draft',
    description:
      'Cuts the next version. The state becomes the mode of the draft; a paused policy stays paused.',
    replayable: true,
    body: policies.PolicyRevision,
    answer,
  },
  pause: {
    tag,
    summary: 'Pause a policy',
    extension: true,
    replayable: true,
    body: policies.PolicyRevision,
    answer,
  },
  resume: {
    tag,
    summary: 'Resume a policy',
    replayable: true,
    body: policies.PolicyRevision,
    answer,
  },
  restore: {
    tag,
    summary: 'Copy an old version into the draft',
    extension: true,
    replayable: true,
    body: policies.PolicyRestore,
    answer,
  },
  remove: {
    tag,
    summary: 'Delete a policy and its versions',
    replayable: true,
    query: policies.revisionQuery,
    answer: jsonAnswer(policies.DeletedPolicy),
  },
  versions: {
    tag,
    summary: 'List the versions of a policy',
    extension: true,
    query: pageQuery,
    answer: jsonAnswer(policies.PolicyVersionList),
  },
} as const satisfies Record<string, OperationDoc>;
