import type { Call, Family, Method, OperationDoc, Reply, Route } from './core/exchange.js';
import type { Permission } from './core/principal.js';
import { demandIn } from './endpoints/inference.js';
import { countDoc } from './endpoints/model-docs.js';

export type Handle = (call: Call) => Promise<Reply>;

const ORGANIZATION_BODY_BYTES = 65_536;
const GATEWAY_BODY_BYTES = 8_388_608;

export const page = (operation: string, path: string, handle: Handle, doc: OperationDoc): Route => ({
  operation,
  method: 'GET',
  path,
  family: 'administration',
  auth: 'public',
  permission: null,
  body: 'none',
  bodyBytes: 0,
  limits: 'none',
  handle,
  doc,
});

/** A row below `/v1/organization`. */
export const organization = (
  operation: string,
  method: Method,
  path: string,
  permission: Permission,
  handle: Handle,
  doc: OperationDoc,
): Route => ({
  operation,
  method,
  path: `/v1/organization${path}`,
  family: 'administration',
  auth: 'admin',
  permission,
  body: method === 'GET' || method === 'DELETE' ? 'none' : 'json',
  bodyBytes: ORGANIZATION_BODY_BYTES,
  limits: 'admin',
  handle,
  doc,
});

export const inference = (
  operation: string,
  path: string,
  family: Family,
  bodyBytes: number,
  handle: Handle,
  doc?: OperationDoc,
): Route => ({
  operation,
  method: 'POST',
  path,
  family,
  auth: 'inference',
  permission: 'inference',
  body: 'json',
  bodyBytes,
  limits: 'inference',
  demand: demandIn(family),
  handle,
  ...(doc && { doc }),
});

/** An inference row that also takes the one anonymous free request (seed 5). */
export const orFree = (route: Route): Route => ({ ...route, auth: 'inference_or_free' });

/** A row that only reads, in limits beside those of inference: 60 a minute for a key, 300 for an organization. */
export const reading = (
  operation: string,
  path: string,
  auth: 'project_key' | 'gateway',
  handle: Handle,
  doc: OperationDoc,
): Route => ({
  operation,
  method: 'GET',
  path,
  family: 'administration',
  auth,
  permission: null,
  body: 'none',
  bodyBytes: 0,
  limits: 'reads',
  handle,
  doc,
});

/** Takes API keys only (D34); an attempt counts as a request and takes no tokens. */
export const countRow = (handle: Handle, bytes: number): Route => ({
  ...inference('count_tokens', '/v1/messages/count_tokens', 'count_tokens', bytes, handle, countDoc),
  auth: 'project_key',
  limits: 'count_tokens',
});

/** A row below `/v1/models`: in the limits of readings, so that a list takes nothing from inference. */
export const modelRow = (operation: string, path: string, handle: Handle, doc?: OperationDoc): Route => ({
  ...inference(operation, `/v1/models${path}`, 'openai', 0, handle, doc),
  method: 'GET',
  body: 'none',
  limits: 'reads',
});

/** A row below `/api/policy-gateway`. */
export const gateway = (
  operation: string,
  method: Method,
  path: string,
  permission: Permission,
  handle: Handle,
  doc: OperationDoc,
): Route => ({
  ...organization(operation, method, '', permission, handle, doc),
  path: `/api/policy-gateway${path}`,
  auth: 'gateway',
  bodyBytes: GATEWAY_BODY_BYTES,
});

/** Counts as a request and takes no tokens. */
export const moderationRow = (handle: Handle, bytes: number, doc: OperationDoc): Route => ({
  ...inference('moderations', '/v1/moderations', 'openai', bytes, handle, doc),
  limits: 'count_tokens',
});
