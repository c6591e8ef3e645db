import type { Delivery } from '../../core/exchange.js';
import type { Log } from '../../core/log.js';
import type { Usage } from '../../core/usage.js';

/** What is said of one finished request. Null = not known or not applicable, and then not written. */
export interface Access {
  readonly requestId: string;
  /** The caller's own id as sent; written only if it looks like one. */
  readonly clientRequestId: string | null;
  readonly operation: string;
  readonly method: string;
  /** The route's template, never the path or query as sent. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly overheadMs: number;
  readonly upstreamWaitMs: number | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly usage: Usage | null;
  readonly credits: number | null;
  readonly delivery: Delivery;
  readonly errorCode: string | null;
  readonly clientAddress: string;
  /** A probe or a scrape: written only at level debug while it goes well. */
  readonly routine: boolean;
}

const clientIdShape = /^[A-Za-z0-9_-]{1,64}$/;

const ms = (value: number): number => Math.round(value * 1_000) / 1_000;

/** The one line per request. */
export function writeAccessLine(log: Log, access: Access): void {
  log[levelOf(access)](fieldsOf(access), `${access.method} ${access.path} ${access.status}`);
}

function levelOf({ status, delivery, routine }: Access): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) return 'error';
  // What an operator acts on: broken answers, refused callers, full limits. A caller's other mistakes are its own.
  if (delivery === 'upstream_failed' || [401, 402, 403, 429].includes(status)) return 'warn';
  return routine && status < 400 ? 'debug' : 'info';
}

function fieldsOf(access: Access): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    request_id: access.requestId,
    operation: access.operation,
    method: access.method,
    path: access.path,
    status: access.status,
    duration_ms: ms(access.durationMs),
    overhead_ms: ms(access.overheadMs),
    delivery: access.delivery,
    client_address: access.clientAddress,
  };
  if (access.clientRequestId !== null && clientIdShape.test(access.clientRequestId))
    fields['client_request_id'] = access.clientRequestId;
  if (access.upstreamWaitMs !== null) fields['upstream_wait_ms'] = ms(access.upstreamWaitMs);
  if (access.organizationId !== null) fields['organization_id'] = access.organizationId;
  if (access.projectId !== null) fields['project_id'] = access.projectId;
  if (access.keyId !== null) fields['key_id'] = access.keyId;
  if (access.model !== null) fields['model'] = access.model;
  if (access.provider !== null) fields['provider'] = access.provider;
  if (access.usage !== null) {
    fields['input_tokens'] = access.usage.input;
    fields['cache_read_tokens'] = access.usage.cacheRead;
    fields['cache_write_tokens'] = access.usage.cacheWrite;
    fields['output_tokens'] = access.usage.output;
  }
  if (access.credits !== null) fields['credits'] = access.credits;
  if (access.errorCode !== null) fields['error_code'] = access.errorCode;
  return fields;
}
