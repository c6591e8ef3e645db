import * as v from 'valibot';
import { sinkTypes } from './kinds.js';

/** In the partition that bears the organization's id. */
export const SINKS = 'sinks';
/** The last error of each sink, apart from it: telling of one is no change of the sink. Successes are its last uses. */
export const SINK_ERRORS = 'sink_errors';

export const SinkRecord = v.object({
  type: v.picklist(sinkTypes),
  label: v.string(),
  enabled: v.boolean(),
  /** Without its secrets. */
  config: v.record(v.string(), v.unknown()),
  /** Sealed, by field. */
  secrets: v.record(v.string(), v.string()),
  /** ISO-8601 UTC (D1). */
  created_at: v.string(),
  updated_at: v.string(),
});
export type SinkRecord = v.InferOutput<typeof SinkRecord>;

export const SinkErrorRecord = v.object({ at: v.string(), reason: v.string() });
export type SinkErrorRecord = v.InferOutput<typeof SinkErrorRecord>;
