import * as v from 'valibot';
import type { OperationDoc } from '../core/exchange.js';

const tag = 'Operations';
const status = (...words: readonly [string, ...string[]]) => v.picklist(words);

/** How the OpenAPI document tells of probes, metrics and documents. */
export const operationDocs = {
  healthz: {
    tag,
    summary: 'Whether the process is alive',
    extension: true,
    answer: { 'application/json': v.strictObject({ status: status('alive') }) },
  },
  readyz: {
    tag,
    summary: 'Whether the gateway should be sent traffic',
    description: 'A 503 has the same body; `reasons` says why.',
    extension: true,
    statuses: [503],
    answer: {
      'application/json': v.pipe(
        v.strictObject({ status: status('ready', 'not_ready'), reasons: v.array(v.string()) }),
        v.title('Readiness'),
      ),
    },
  },
  metrics: {
    tag,
    summary: 'Metrics in the format of Prometheus',
    description: 'The path is configurable.',
    extension: true,
    answer: { 'text/plain': v.string() },
  },
  errors: {
    tag,
    summary: 'Every error code, and what to do about it',
    extension: true,
    answer: { 'text/html': v.string() },
  },
  openapi: {
    tag,
    summary: 'This document',
    extension: true,
    answer: { 'application/json': v.looseObject({ openapi: v.string() }) },
  },
} as const satisfies Record<string, OperationDoc>;
