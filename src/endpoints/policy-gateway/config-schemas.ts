import * as v from 'valibot';
import { ConfigSchema } from '../../rules/policy-gateway/config.js';
import { id, listOf } from '../administration/describe.js';
import { integer } from '../administration/parse.js';

const moment = v.pipe(v.string(), v.isoTimestamp());

export const NewGatewayConfig = v.pipe(v.looseObject({ config: ConfigSchema }), v.title('NewGatewayConfig'));

/** Seed 4.7. */
export const StoredGatewayConfig = v.pipe(
  v.strictObject({
    config: ConfigSchema,
    created_at: v.pipe(v.nullable(moment), v.description('null = none was ever saved.')),
    updated_at: v.nullable(moment),
  }),
  v.title('StoredGatewayConfig'),
);

const GatewayConfigRevision = v.pipe(
  v.strictObject({
    id,
    object: v.literal('policy_gateway.config.revision'),
    revision: integer(1, Number.MAX_SAFE_INTEGER),
    config: ConfigSchema,
    created_at: moment,
  }),
  v.title('GatewayConfigRevision'),
);

export const GatewayConfigRevisionList = listOf('GatewayConfigRevisionList', GatewayConfigRevision);
