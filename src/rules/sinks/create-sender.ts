import { setTimeout as delay } from 'node:timers/promises';
import { systemClock, type Clock } from '../../core/clock.js';
import { GatewayError } from '../../core/errors.js';
import type { Sender, SinkSpec } from '../../core/sink.js';
import { OutboundClient, type OutboundOptions, type OutboundTimeouts } from '../../io/outbound/client.js';
import type { OutboundRules } from '../../io/outbound/destination.js';
import { OutboundFault } from '../../io/outbound/fault.js';
import { checkConfig } from './check-config.js';
import type { AzureConfig, DatadogConfig, ElasticConfig, S3Config, SplunkConfig } from './configs.js';
import { isSinkType } from './kinds.js';
import { held, outcomeOfFault } from './outcomes.js';
import { createAzureSender } from './senders/azure.js';
import { createDatadogSender } from './senders/datadog.js';
import { createElasticSender } from './senders/elastic.js';
import type { Remark, SenderParts } from './senders/parts.js';
import { createS3Sender } from './senders/s3.js';
import { createSplunkSender } from './senders/splunk.js';

export type { Remark } from './senders/parts.js';

export interface SenderOptions {
  readonly rules: OutboundRules;
  readonly clock?: Clock;
  readonly timeouts?: OutboundTimeouts;
  readonly lookup?: OutboundOptions['lookup'];
  /** A pause inside a `send`; ends early when the signal is given, by throwing. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly remark?: (spec: SinkSpec, what: Remark, events: number) => void;
}

const senders = {
  splunk_hec: (config: object, parts: SenderParts) => createSplunkSender(config as SplunkConfig, parts),
  datadog_logs: (config: object, parts: SenderParts) => createDatadogSender(config as DatadogConfig, parts),
  elastic: (config: object, parts: SenderParts) => createElasticSender(config as ElasticConfig, parts),
  s3: (config: object, parts: SenderParts) => createS3Sender(config as S3Config, parts),
  azure_monitor: (config: object, parts: SenderParts) => createAzureSender(config as AzureConfig, parts),
};

/** The way to a destination. Never throws: what cannot work is held with the reason. */
export const createSender = (spec: SinkSpec, options: SenderOptions): Sender => {
  if (!isSinkType(spec.type)) return holding('This type of destination is not known.');
  const { rules, timeouts, lookup } = options;
  const parts: SenderParts = {
    clock: options.clock ?? systemClock,
    connect: (address, caPem = '') =>
      new OutboundClient({ address, rules, caPem, ...(timeouts && { timeouts }), ...(lookup && { lookup }) }),
    wait: options.wait ?? pause,
    remark: (what, events) => options.remark?.(spec, what, events),
  };
  try {
    return answering(senders[spec.type](checkConfig(spec.type, spec.config, rules), parts));
  } catch (error) {
    if (error instanceof GatewayError) return holding(error.message);
    return holding(error instanceof OutboundFault ? error.message : 'The configuration cannot be used.');
  }
};

/** Faults on the way are answers too. */
const answering = (sender: Sender): Sender => ({
  limits: sender.limits,
  close: () => sender.close(),
  send: async (batch, signal) => {
    try {
      return await sender.send(batch, signal);
    } catch (error) {
      if (error instanceof OutboundFault) return outcomeOfFault(error);
      throw error;
    }
  },
});

const holding = (reason: string): Sender => ({
  limits: { count: 1, bytes: 1, ageMs: 1_000 },
  close: () => Promise.resolve(),
  send: () => Promise.resolve(held(reason)),
});

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    throw new OutboundFault('stopped', 'The sending was stopped.', error);
  }
};
