import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asGatewayError,
  balanceUnavailable,
  GatewayError,
  lacksPermission,
  storeUnavailable,
  tooLarge,
} from './core/errors.js';
import {
  freshMeter,
  noDemand,
  type Call,
  type Demand,
  type Lease,
  type Reply,
  type Route,
} from './core/exchange.js';
import { newId } from './core/ids.js';
import { holds } from './core/principal.js';
import { invalidJsonDetail } from './dialects/count/detail.js';
import { settleBill } from './endpoints/bill.js';
import { errorReply, familyOf } from './endpoints/error-bodies.js';
import { asProviderError } from './endpoints/provider-errors.js';
import { policyHeadersOf } from './endpoints/review/policy-headers.js';
import { readBody } from './io/http/body.js';
import { parseJson } from './io/http/parse-json.js';
import { sendReply, type Sent } from './io/http/reply.js';
import { checkHeaders } from './io/http/strict-headers.js';
import { parseTarget } from './io/http/target.js';
import { StoreUnavailable } from './io/records/records.js';
import { report } from './report.js';
import type { Trip, WalkParts } from './trip.js';

/** Taken for the size of a body that is handed on unread and does not tell its own. */
const UNTOLD_BYTES = 64 * 1024;

const nothingSent: Sent = { delivery: 'client_left', bytes: 0, cause: undefined };

/**
 * The fixed walk of every request: match, authenticate, read, parse, estimate, admit, handle, reply, settle.
 * Every attempt counts (seed 8.1), so a fault found before admission is answered only after it.
 */
export const serve = async (
  req: IncomingMessage,
  res: ServerResponse,
  parts: WalkParts,
  abort: AbortController,
): Promise<void> => {
  const trip: Trip = {
    requestId: newId('req'),
    receivedMs: parts.clock.ticksMs(),
    abort,
    meter: freshMeter(),
    route: null,
    path: '/',
    clientAddress: parts.clientAddress(req),
    caller: null,
    lease: null,
    policy: policyHeadersOf(req.headers),
    clientLeft: false,
    failure: null,
    uploadMs: 0,
    handledMs: null,
  };
  // `req` closes as soon as its body is read; only `res` tells that the client has left.
  const onClose = (): void => {
    if (res.writableFinished) return;
    trip.clientLeft = true;
    abort.abort(new Error('The client left.'));
  };
  res.once('close', onClose);
  let sent = nothingSent;
  try {
    sent = await answer(req, res, trip, parts);
  } finally {
    res.off('close', onClose);
    await conclude(req, res, trip, sent, parts);
  }
};

const answer = async (
  req: IncomingMessage,
  res: ServerResponse,
  trip: Trip,
  parts: WalkParts,
): Promise<Sent> => {
  const send = (reply: Reply): Promise<Sent> =>
    sendReply(reply, req, res, {
      headers: { 'x-request-id': trip.requestId, 'request-id': trip.requestId, ...trip.lease?.headers },
      signal: trip.abort.signal,
    });
  try {
    return await send(await walk(req, res, trip, parts));
  } catch (thrown) {
    if (res.destroyed || res.headersSent) {
      if (!res.destroyed) res.destroy();
      return nothingSent;
    }
    trip.failure = asClientError(thrown, trip);
    await settleFirst(trip, parts);
    return send(errorReply(trip.failure, trip.route?.family ?? familyOf(trip.path), trip.requestId));
  }
};

/** What an inference request came to is on record before its client is told; a failure to settle is told in the end. */
const settleFirst = async ({ route, meter, lease }: Trip, { usdPerCredit }: WalkParts): Promise<void> => {
  if (lease && route?.limits === 'inference')
    await settleBill(meter, lease, usdPerCredit).catch(() => undefined);
};

const asClientError = (thrown: unknown, { meter, route }: Trip): GatewayError => {
  const error =
    thrown instanceof StoreUnavailable
      ? storeUnavailable(thrown)
      : asGatewayError(asProviderError(meter.provider ?? 'The provider', thrown));
  return route?.operation === 'get_credits' && error.code === 'store_unavailable'
    ? balanceUnavailable(error)
    : error;
};

const walk = async (
  req: IncomingMessage,
  res: ServerResponse,
  trip: Trip,
  parts: WalkParts,
): Promise<Reply> => {
  const { route, params, query, fault } = findRoute(req, trip, parts);
  trip.route = route;
  parts.metrics.requestStarted(route.operation);
  trip.caller = await parts.identify(req, route, trip.clientAddress);
  const readFromMs = parts.clock.ticksMs();
  const read = fault ? unread(fault) : await readRequest(req, res, route, trip.abort.signal);
  trip.uploadMs = parts.clock.ticksMs() - readFromMs;
  const call = {
    requestId: trip.requestId,
    route,
    params,
    query,
    headers: req.headers,
    clientAddress: trip.clientAddress,
    receivedMs: trip.receivedMs,
    principal: trip.caller.principal,
    body: read.body,
    signal: trip.abort.signal,
    meter: trip.meter,
    log: parts.log,
  };
  trip.lease = await admit(call, read.demand, trip, parts);
  if (read.fault) throw read.fault;
  if (route.limits === 'inference' || route.limits === 'count_tokens') await parts.checkProject(call);
  if (route.permission && !holds(call.principal, route.permission)) throw lacksPermission(route.permission);
  const reply = await route.handle({ ...call, lease: trip.lease } satisfies Call);
  trip.handledMs = parts.clock.ticksMs() - trip.receivedMs;
  return reply;
};

/** An inference request that is let in leaves a trace in the audit trail, and so does one that a quota keeps out. */
const admit = async (
  call: Omit<Call, 'lease'>,
  demand: Demand,
  trip: Trip,
  { admit: take, witness }: WalkParts,
): Promise<Lease> => {
  if (call.route.limits !== 'inference') return take(call, demand);
  await witness.admits(call.principal.organization.id);
  try {
    return witness.attend(await take(call, demand), trip);
  } catch (error) {
    throw error instanceof GatewayError ? await witness.refused(trip, error) : error;
  }
};

const findRoute = (req: IncomingMessage, trip: Trip, parts: WalkParts) => {
  trip.path = /^[^?]*/.exec(req.url ?? '/')![0]; // for the family of the error, should the rest be wrong
  const target = parseTarget(req.url ?? '/');
  if (!target.ok) throw new GatewayError('invalid_path', target.message);
  trip.path = target.path;
  const fault = headerFault(req);
  const found = parts.match(req.method ?? 'GET', target.path);
  if (!found) throw fault ?? new GatewayError('not_found', `There is nothing at ${target.path}.`);
  if ('allow' in found) {
    const allow = found.allow.join(', ');
    throw new GatewayError('method_not_allowed', `${target.path} takes ${allow}.`, { headers: { allow } });
  }
  return { ...found, query: target.query, fault };
};

const headerFault = (req: IncomingMessage): GatewayError | null => {
  const fault = checkHeaders(req);
  if (!fault) return null;
  const code = fault.kind === 'encoding' ? 'unsupported_content_encoding' : 'invalid_header';
  // Whoever frames a request in two ways gets no second one through on the same connection.
  const headers: Record<string, string> = fault.kind === 'encoding' ? {} : { connection: 'close' };
  return new GatewayError(code, fault.message, { param: fault.header, headers });
};

interface Read {
  readonly body: unknown;
  readonly demand: Demand;
  readonly fault: GatewayError | null;
}

const unread = (fault: GatewayError): Read => ({ body: undefined, demand: noDemand, fault });

/** Reads and parses the body; what is wrong with it is remembered, not thrown. */
const readRequest = async (
  req: IncomingMessage,
  res: ServerResponse,
  route: Route,
  signal: AbortSignal,
): Promise<Read> => {
  if (route.body !== 'json') {
    const bytes = Number(req.headers['content-length'] ?? UNTOLD_BYTES);
    return { body: undefined, demand: route.demand?.(undefined, bytes) ?? noDemand, fault: null };
  }
  const read = await readBody(req, res, route.bodyBytes, signal);
  if (!read.ok) {
    if (read.fault === 'too_large') return unread(tooLarge(route.bodyBytes));
    return unread(new GatewayError('request_timeout', 'The request body did not arrive in time.'));
  }
  const type = req.headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type))
    return unread(
      new GatewayError('invalid_content_type', 'Send the body as application/json.', {
        param: 'content-type',
      }),
    );
  const parsed = parseJson(read.bytes);
  if (!parsed.ok) return unread(unparsable(parsed.message, route));
  return {
    body: parsed.value,
    demand: route.demand?.(parsed.value, read.bytes.length) ?? noDemand,
    fault: null,
  };
};

/** On count_tokens every fault of a body is told in the same list (D41). */
const unparsable = (message: string, { family }: Route): GatewayError =>
  family === 'count_tokens'
    ? new GatewayError('invalid_parameter', message, { detail: [invalidJsonDetail(0, message)] })
    : new GatewayError('invalid_json', message);

/** Settles once, whatever happened; then tells of it. Nothing here may throw: nobody is left to catch it. */
const conclude = async (
  req: IncomingMessage,
  res: ServerResponse,
  trip: Trip,
  sent: Sent,
  parts: WalkParts,
): Promise<void> => {
  const { meter, caller, lease } = trip;
  try {
    if (lease) await settleBill(meter, lease, parts.usdPerCredit);
    if (lease && caller && trip.route?.limits === 'inference') parts.tally(caller.principal, meter);
    if (caller && !meter.upstreamReached) await caller.unused();
  } catch (thrown) {
    parts.log.error({ err: thrown, request_id: trip.requestId }, 'a request could not be settled');
  }
  report(req, res, trip, sent, parts);
};
