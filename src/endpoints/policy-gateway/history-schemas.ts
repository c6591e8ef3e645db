import * as v from 'valibot';
import { listOf } from '../administration/describe.js';
import { text } from '../administration/parse.js';

const optionalText = v.nullable(v.string());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const eventTypes = ['enforcement', 'simulation', 'revision', 'rollback', 'admin'] as const;

/** An audit event as the API shows it (D28). One whose user was forgotten has only its place left. */
const HistoryEvent = v.pipe(
  v.looseObject({
    id: text(1, 200),
    object: v.literal('policy_gateway.event'),
    event_id: v.string(),
    event_type: v.picklist(eventTypes),
    created_at: v.string(),
    org_id: v.string(),
    project_id: v.optional(optionalText),
    key_id: v.optional(optionalText),
    request_id: v.optional(optionalText),
    user_id: v.optional(optionalText),
    policy_id: v.optional(optionalText),
    decision: v.optional(optionalText),
    effective_decision: v.optional(optionalText),
    erased: v.optional(v.boolean()),
    instance_id: v.string(),
    seq: count,
    prev_hash: v.string(),
    hash: v.string(),
  }),
  v.title('HistoryEvent'),
);

export const HistoryList = listOf('HistoryList', HistoryEvent);

export const ErasedHistory = v.pipe(
  v.strictObject({ object: v.literal('policy_gateway.erasure'), erased: count }),
  v.title('ErasedHistory'),
);
