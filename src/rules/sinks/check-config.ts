import * as v from 'valibot';
import type { GatewayError } from '../../core/errors.js';
import { invalidParameter } from '../../core/errors.js';
import { readDestination, type OutboundRules } from '../../io/outbound/destination.js';
import { OutboundFault } from '../../io/outbound/fault.js';
import { holdsCertificates, kindOf, type SinkType } from './kinds.js';

/** A configuration by field, as it was sent or is stored. */
export type Fields = Readonly<Record<string, unknown>>;

const at = (field: string, message: string): GatewayError => invalidParameter(`config.${field}`, message);

/** The configuration with its defaults; the first thing wrong with it is a 422 that names `config.FIELD`. */
export const checkConfig = (type: SinkType, given: Fields, rules: OutboundRules): Fields => {
  refuseRetired(type, given);
  const { schema, clash, addresses } = kindOf(type);
  const parsed = v.safeParse(schema, withoutNulls(given), { abortEarly: true });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw at(v.getDotPath(issue) ?? '', tell(issue));
  }
  const config = parsed.output as Fields;
  const fault = clash(config);
  if (fault) throw at(fault.field, fault.message);
  for (const [field, address] of Object.entries(addresses(config))) checkAddress(field, address, rules);
  if (typeof config['ca_pem'] === 'string' && !holdsCertificates(config['ca_pem']))
    throw at('ca_pem', 'must be certificates in PEM.');
  return config;
};

/** null and absent are one (D7). */
const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

const checkAddress = (field: string, address: string, rules: OutboundRules): void => {
  try {
    readDestination(address, rules);
  } catch (error) {
    throw error instanceof OutboundFault ? at(field, error.message) : error;
  }
};

/** Of Azure's two ways in, one is no longer served; people still have its settings. */
const refuseRetired = (type: SinkType, given: Fields): void => {
  for (const field of type === 'azure_monitor' ? ['workspace_id', 'shared_key'] : [])
    if (field in given)
      throw at(
        field,
        'belongs to the HTTP Data Collector API, which Microsoft has retired. Use the Logs Ingestion API: endpoint, dcr_immutable_id, stream_name, tenant_id, client_id, client_secret.',
      );
};

/** Says what is wrong without repeating what was sent: it may be a secret. */
const tell = (issue: v.BaseIssue<unknown>): string => {
  if (issue.kind === 'validation') return issue.message;
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return 'is not a setting of this type of destination.';
  if (issue.received === 'undefined') return 'is required.';
  return `must be ${issue.expected ?? 'something else'}.`;
};
