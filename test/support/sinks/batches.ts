import type { Batch, BatchItem, SinkSpec } from '../../../src/core/sink.js';
import type { SenderOptions } from '../../../src/rules/sinks/create-sender.js';

export const CREATED_AT = '2031-01-31T12:34:56.789Z';

/** An event as the spool holds it. */
export const eventOf = (seq: number, more: object = {}): BatchItem => {
  const eventId = `evt-${String(seq).padStart(6, '0')}`;
  const json = JSON.stringify({
    event_type: 'enforcement',
    details: { created_at: 'not this one', text: 'a "quoted" {brace' },
    event_id: eventId,
    created_at: CREATED_AT,
    org_id: 'org_1',
    source: 'policy_gateway',
    decision: 'allow',
    instance_id: 'gw-1',
    seq,
    ...more,
  });
  return { seq, eventId, json };
};

export const batchOf = (count: number, more: (seq: number) => object = () => ({}), firstSeq = 1): Batch => {
  const events = Array.from({ length: count }, (_, index) =>
    eventOf(firstSeq + index, more(firstSeq + index)),
  );
  return {
    id: `batch-${firstSeq}`,
    organizationId: 'org_1',
    instanceId: 'gw-1',
    events,
    firstSeq,
    lastSeq: firstSeq + count - 1,
    createdAt: CREATED_AT,
  };
};

export const specOf = (type: string, config: Readonly<Record<string, unknown>>): SinkSpec => ({
  id: 'exp_1',
  organizationId: 'org_1',
  type,
  enabled: true,
  config,
});

/** As an operator would allow the fakes. */
export const loopback = { allowInsecure: true, allowPrivateHosts: ['127.0.0.1'] } as const;

/** Pauses that cost nothing. */
export const quick = {
  rules: loopback,
  timeouts: { connectMs: 10_000, headersMs: 10_000, totalMs: 20_000 },
  wait: async () => {
    await new Promise((resolve) => setImmediate(resolve));
  },
} as const satisfies SenderOptions;

export const never = new AbortController().signal;
