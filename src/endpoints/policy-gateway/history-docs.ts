import * as v from 'valibot';
import type { OperationDoc, QueryDoc } from '../../core/exchange.js';
import { id, jsonAnswer, pageQuery } from '../administration/describe.js';
import { text } from '../administration/parse.js';
import { ErasedHistory, eventTypes, HistoryList } from './history-schemas.js';

const tag = 'Policy gateway';

const time = (about: string): QueryDoc => ({ about, schema: v.pipe(v.string(), v.isoTimestamp()) });

/** How the OpenAPI document tells of the history. */
export const historyDocs = {
  list: {
    tag,
    summary: 'List the latest audit events',
    description:
      'Newest first, of the own organization (with a project key or a JWT: of the own project), as far as the gateway that answers still keeps them.',
    extension: true,
    query: {
      after: pageQuery['after']!,
      limit: pageQuery['limit']!,
      event_type: { about: 'Only events of this type.', schema: v.picklist(eventTypes) },
      decision: { about: 'Only events with this decision.', schema: text(1, 200) },
      policy_id: { about: 'Only events of this policy.', schema: id },
      project_id: { about: 'Only events of this project.', schema: id },
      key_id: { about: 'Only events of this key.', schema: id },
      user: { about: 'Only events of this end user.', schema: text(1, 512) },
      request_id: { about: 'Only the events of this request.', schema: id },
      since: time('Only events at or after this time.'),
      until: time('Only events at or before this time.'),
    },
    answer: jsonAnswer(HistoryList),
    statuses: [403],
  },
  erase: {
    tag,
    summary: 'Erase the audit events of an end user',
    description:
      'Takes an administrator key. Of each event only its place in the chain stays, so that the rest can still be proved; what was exported already is not touched.',
    extension: true,
    replayable: true,
    query: { user: { about: 'The end user.', schema: text(1, 512), required: true } },
    answer: jsonAnswer(ErasedHistory),
  },
} as const satisfies Record<string, OperationDoc>;
