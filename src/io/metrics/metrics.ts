import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Usage } from '../../core/usage.js';
import { registerLimitFamilies, type LimitMetrics } from './limits.js';
import { registerPolicingFamilies, type PolicingMetrics } from './policing.js';
import { bounded, counter, gauge, histogram, type Distribution, type Value } from './series.js';

/** What the gateway counts. Every method is cheap enough for the hot path and takes names of any number. */
export interface Metrics {
  requestStarted(operation: string): void;
  requestFinished(operation: string, status: number, seconds: number, overheadSeconds: number): void;
  /** From the request's arrival to the first answer text. */
  firstToken(model: string, seconds: number): void;
  tokens(model: string, usage: Usage): void;
  upstreamAttempt(provider: string, outcome: string, seconds: number): void;
  /** Bytes of streamed answers sent to clients. */
  streamBytes(bytes: number): void;
  /** Whether any circuit to a provider is open. */
  circuit(provider: string, open: boolean): void;
  /** Whether the gateway works without something it should have, such as its store. */
  degraded(what: string, on: boolean): void;
  configReload(ok: boolean): void;
  authFailures(code: string): void;
  readonly limits: LimitMetrics;
  readonly policing: PolicingMetrics;
  render(): Promise<{ contentType: string; text: string }>;
  close(): void;
}

export interface MetricsOptions {
  readonly version: string;
}

const MOST_OPERATIONS = 100;
const MOST_MODELS = 200;
const MOST_PROVIDERS = 100;
const MOST_WORDS = 30; // outcomes, codes, what is degraded: words of our own

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const firstTokenBuckets = [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 25, 60];

interface OperationSeries {
  readonly inFlight: Value;
  readonly duration: Distribution;
  readonly overhead: Distribution;
  /** By status, made when first seen. */
  readonly finished: (Value | undefined)[];
  readonly makeFinished: (status: string) => Value;
}

export function createMetrics({ version }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'sluice_build_info', 'Always 1; the labels tell what is running.', [
    'version',
    'node',
  ]).child(version, process.version).value = 1;

  const requestFamilies = registerRequestFamilies(registry);
  const operationOf = bounded(MOST_OPERATIONS, requestFamilies);
  const modelOf = bounded(MOST_MODELS, registerModelFamilies(registry));
  const providerOf = bounded(MOST_PROVIDERS, registerProviderFamilies(registry));

  const sentBytes = counter(
    registry,
    'sluice_stream_bytes_total',
    'Bytes of streamed answers sent to clients.',
    [],
  ).child();
  const degradedFamily = gauge(
    registry,
    'sluice_degraded',
    'Whether the gateway works without something it should have (1) or not (0).',
    ['what'],
  );
  const degradedOf = bounded(MOST_WORDS, (what) => degradedFamily.child(what));
  const reloads = counter(
    registry,
    'sluice_config_reloads_total',
    'Configuration reloads; a refused one left the old configuration in force.',
    ['result'],
  );
  const applied = reloads.child('applied');
  const refused = reloads.child('refused');
  const authFamily = counter(
    registry,
    'sluice_auth_failures_total',
    'Requests refused for their credential.',
    ['code'],
  );
  const authFailureOf = bounded(MOST_WORDS, (code) => authFamily.child(code));

  return {
    requestStarted(operation) {
      operationOf(operation).inFlight.value++;
    },
    requestFinished(operation, status, seconds, overheadSeconds) {
      const series = operationOf(operation);
      const slot = status >= 100 && status <= 599 ? status | 0 : 0;
      series.inFlight.value--;
      (series.finished[slot] ??= series.makeFinished(slot === 0 ? 'other' : String(slot))).value++;
      series.duration.observe(seconds);
      series.overhead.observe(overheadSeconds);
    },
    firstToken(model, seconds) {
      modelOf(model).firstToken.observe(seconds);
    },
    tokens(model, usage) {
      const series = modelOf(model);
      series.input.value += usage.input;
      series.cacheRead.value += usage.cacheRead;
      series.cacheWrite.value += usage.cacheWrite;
      series.output.value += usage.output;
    },
    upstreamAttempt(provider, outcome, seconds) {
      const series = providerOf(provider);
      series.attempts(outcome).value++;
      series.duration.observe(seconds);
    },
    streamBytes(bytes) {
      sentBytes.value += bytes;
    },
    circuit(provider, open) {
      providerOf(provider).circuit.value = open ? 1 : 0;
    },
    degraded(what, on) {
      degradedOf(what).value = on ? 1 : 0;
    },
    configReload(ok) {
      (ok ? applied : refused).value++;
    },
    authFailures(code) {
      authFailureOf(code).value++;
    },
    limits: registerLimitFamilies(registry),
    policing: registerPolicingFamilies(registry),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => registry.clear(),
  };
}

function registerRequestFamilies(registry: Registry): (operation: string) => OperationSeries {
  const finished = counter(registry, 'sluice_requests_total', 'Requests answered, by operation and status.', [
    'operation',
    'status',
  ]);
  const inFlight = gauge(registry, 'sluice_requests_in_flight', 'Requests being answered now.', [
    'operation',
  ]);
  const duration = histogram(
    registry,
    'sluice_request_duration_seconds',
    "From a request's arrival to the last byte of its answer.",
    ['operation'],
    durationBuckets,
  );
  const overhead = histogram(
    registry,
    'sluice_overhead_seconds',
    'Time the gateway itself added before the answer began: without waiting for the upstream.',
    ['operation'],
    overheadBuckets,
  );
  return (operation) => ({
    inFlight: inFlight.child(operation),
    duration: duration.child(operation),
    overhead: overhead.child(operation),
    finished: [],
    makeFinished: (status) => finished.child(operation, status),
  });
}

function registerModelFamilies(registry: Registry) {
  const firstToken = histogram(
    registry,
    'sluice_time_to_first_token_seconds',
    "From a request's arrival to the first text of its answer.",
    ['model'],
    firstTokenBuckets,
  );
  const tokens = counter(
    registry,
    'sluice_tokens_total',
    'Tokens by kind; each is counted once, reasoning as output.',
    ['model', 'kind'],
  );
  return (model: string) => ({
    firstToken: firstToken.child(model),
    input: tokens.child(model, 'input'),
    cacheRead: tokens.child(model, 'cache_read'),
    cacheWrite: tokens.child(model, 'cache_write'),
    output: tokens.child(model, 'output'),
  });
}

function registerProviderFamilies(registry: Registry) {
  const attempts = counter(
    registry,
    'sluice_upstream_attempts_total',
    'Calls to providers by how they ended.',
    ['provider', 'outcome'],
  );
  const duration = histogram(
    registry,
    'sluice_upstream_duration_seconds',
    "From sending a call to the first byte of the provider's answer, or to its failure.",
    ['provider'],
    durationBuckets,
  );
  const circuit = gauge(
    registry,
    'sluice_circuit_open',
    'Whether a circuit to the provider is open (1) or all are closed (0).',
    ['provider'],
  );
  return (provider: string) => ({
    attempts: bounded(MOST_WORDS, (outcome) => attempts.child(provider, outcome)),
    duration: duration.child(provider),
    circuit: circuit.child(provider),
  });
}
