import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Sent } from './io/http/reply.js';
import { writeAccessLine } from './io/log/access-line.js';
import type { Trip, WalkParts } from './trip.js';

/** The status of a request whose client left before there was one to send. */
const CLIENT_LEFT = 499;

/** Tells the log and the metrics of a request that is over. */
export const report = (
  req: IncomingMessage,
  res: ServerResponse,
  trip: Trip,
  sent: Sent,
  parts: WalkParts,
): void => {
  const { meter, route, failure, requestId } = trip;
  const principal = trip.caller?.principal;
  const operation = route?.operation ?? 'unknown';
  const durationMs = parts.clock.ticksMs() - trip.receivedMs;
  // What the gateway itself took: neither the client's upload, nor the wait for the upstream, nor the answer's own length.
  const overheadMs = Math.max(0, (trip.handledMs ?? durationMs) - trip.uploadMs - meter.upstreamWaitMs);
  const status = res.headersSent ? res.statusCode : CLIENT_LEFT;
  const clientRequestId = req.headers['x-request-id'];
  writeAccessLine(parts.log, {
    requestId,
    clientRequestId: typeof clientRequestId === 'string' ? clientRequestId : null,
    operation,
    method: req.method ?? 'GET',
    path: route?.path ?? 'unknown',
    status,
    durationMs,
    overheadMs,
    upstreamWaitMs: meter.provider === null ? null : meter.upstreamWaitMs,
    organizationId: principal?.organization.id ?? null,
    projectId: principal?.projectId ?? null,
    keyId: principal?.keyId ?? null,
    model: meter.model,
    provider: meter.provider,
    usage: meter.provider === null ? null : meter.usage,
    credits: meter.provider === null ? null : meter.credits,
    delivery: sent.delivery,
    errorCode: failure?.code ?? null,
    clientAddress: trip.clientAddress,
    routine: route?.auth === 'public',
  });
  if (!route) parts.metrics.requestStarted(operation);
  parts.metrics.requestFinished(operation, status, durationMs / 1_000, overheadMs / 1_000);
  if (failure?.type === 'auth_error') parts.metrics.authFailures(failure.code);
  if (meter.provider !== null) parts.metrics.tokens(meter.model ?? 'other', meter.usage);
  if (meter.firstTokenMs !== null) parts.metrics.streamBytes(sent.bytes);
  explain(trip, sent, parts);
};

/** The causes behind a failure: for the operator, never for the client. */
const explain = ({ failure, requestId }: Trip, { cause }: Sent, { log }: WalkParts): void => {
  if (failure?.code === 'internal_error')
    log.error({ err: failure.cause, request_id: requestId }, 'unexpected failure');
  else if (failure && failure.status >= 500 && failure.cause !== undefined)
    log.warn({ err: failure.cause, request_id: requestId }, failure.message);
  if (cause !== undefined)
    log.warn({ err: cause, request_id: requestId }, 'the upstream broke off inside an answer');
};
