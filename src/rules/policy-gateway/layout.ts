import * as v from 'valibot';
import { ConfigSchema } from './config.js';

/** In the partition that bears the organization's id. */
export const GATEWAY = 'gateway';
export const HISTORY = 'gateway/history';
export const CONFIG_ID = 'config';
export const REVISION_PREFIX = 'gcr';

/** Revisions that are kept: so many, and so many characters of JSON together; the latest whatever its size. */
export const MOST_REVISIONS = 50;
export const HISTORY_CHARACTERS = 16_777_216;

const moment = v.pipe(v.string(), v.isoTimestamp());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The index of the history stands in the record itself: what falls out of it goes in the same commit. */
export const ConfigHead = v.object({
  created_at: moment,
  updated_at: moment,
  history: v.array(v.object({ id: v.string(), characters: count })),
});
export type ConfigHead = v.InferOutput<typeof ConfigHead>;

export const ConfigRecord = v.object({ ...ConfigHead.entries, config: ConfigSchema });
export type ConfigRecord = v.InferOutput<typeof ConfigRecord>;

/** Written once, never changed. */
export const RevisionRecord = v.object({
  revision: v.pipe(v.number(), v.integer(), v.minValue(1)),
  config: ConfigSchema,
  created_at: moment,
});
export type RevisionRecord = v.InferOutput<typeof RevisionRecord>;
