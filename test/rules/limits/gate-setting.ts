import {
  freshMeter,
  type Call,
  type Demand,
  type LimitFamily,
  type Route,
} from '../../../src/core/exchange.js';
import { silentLog } from '../../../src/core/log.js';
import type { Principal } from '../../../src/core/principal.js';
import { noUsage, type Usage } from '../../../src/core/usage.js';
import { createGate, type GateOptions } from '../../../src/rules/limits/gate.js';
import type { Guard } from '../../../src/rules/limits/guard.js';
import { loadTiers } from '../../../src/rules/limits/tiers.js';

const tiers = loadTiers();

export const price = { inputPerMtok: 100, outputPerMtok: 100, cacheReadPerMtok: 0, cacheWritePerMtok: 0 };

export const gateWith = (guard: Guard, more: Partial<GateOptions> = {}) =>
  createGate({
    guard,
    tiers,
    overrides: [],
    admin: { credentialRpm: 2, organizationRpm: 3, concurrent: 10 },
    enforce: true,
    countRefused: 'key',
    usdPerCredit: 0.0001,
    priceOf: (model) => (model === 'sim' ? { price, maxOutputTokens: 500 } : null),
    ...more,
  });

export const principalWith = (
  given: Partial<Principal> & { org?: string; metered?: boolean } = {},
): Principal => {
  const { org = 'org_a', metered = false, ...rest } = given;
  return {
    kind: 'project',
    organization: { id: org, name: org, plan: 'free', lifetimePaidUsd: 0, metered },
    projectId: 'proj_a',
    keyId: 'key_a',
    permissions: new Set(['inference']),
    models: null,
    creditBudget: null,
    ...rest,
  };
};

let requests = 0;

export const callOf = (principal: Principal, limits: LimitFamily = 'inference'): Omit<Call, 'lease'> => {
  const route = { operation: 'x', limits } as Partial<Route> as Route;
  return {
    requestId: `req_${requests++}`,
    route,
    params: {},
    query: new URLSearchParams(),
    headers: {},
    clientAddress: '127.0.0.1',
    receivedMs: 0,
    principal,
    body: undefined,
    signal: new AbortController().signal,
    meter: freshMeter(),
    log: silentLog,
  };
};

export const demand = (inputTokens: number, outputTokens: number): Demand => ({
  model: 'sim',
  inputTokens,
  outputTokens,
});

export const spent = (input: number, output: number, credits: number) => {
  const usage: Usage = { ...noUsage, input, output };
  return { usage, costUsd: 0, credits };
};
