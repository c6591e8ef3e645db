import type { IncomingMessage, ServerResponse } from 'node:http';
import { readShipped } from './commands/shipped.js';
import type { Config } from './config/schema.js';
import { systemClock } from './core/clock.js';
import type { Log } from './core/log.js';
import { chatDialect } from './dialects/chat/dialect.js';
import type { Dialect } from './dialects/dialect.js';
import { messagesDialect } from './dialects/messages/dialect.js';
import { responsesDialect } from './dialects/responses/dialect.js';
import { createAdminKeyDoors } from './endpoints/administration/admin-keys.js';
import { createBillingDoors } from './endpoints/administration/billing.js';
import { createPolicyDoors } from './endpoints/administration/policies.js';
import { createProjectDoors, createProjectKeyDoors } from './endpoints/administration/projects.js';
import { createCountTokens } from './endpoints/count-tokens.js';
import { createInference, type InferenceParts } from './endpoints/inference.js';
import { createLimitDoors } from './endpoints/limits.js';
import { createModerations } from './endpoints/moderations.js';
import { createModelDoors } from './endpoints/models.js';
import {
  createMetricsPage,
  createOpenapiDocument,
  createReadyz,
  errorsDocument,
  healthz,
  type Readiness,
} from './endpoints/operations.js';
import { createConfigDoors } from './endpoints/policy-gateway/config.js';
import { createExportDoors } from './endpoints/policy-gateway/exports.js';
import { createHistoryDoors } from './endpoints/policy-gateway/history.js';
import { createSimulateDoor } from './endpoints/policy-gateway/simulate.js';
import { contentOfText } from './endpoints/review/capture.js';
import { createInspection } from './endpoints/review/inspection.js';
import { createProjectCheck } from './endpoints/review/project-check.js';
import { findClientBehind, subnetOf } from './io/http/address.js';
import { compileMatcher } from './io/http/match.js';
import type { Metrics } from './io/metrics/metrics.js';
import { heartbeat } from './io/sse/encode.js';
import type { TextTokenizer } from './io/tokenizer/tokenizer.js';
import { Breakers } from './io/upstream/breaker.js';
import type { Attempt } from './io/upstream/send.js';
import { createLimitGate, type LimitGround } from './limits.js';
import type { PolicingGround } from './policing.js';
import { createReviewing } from './reviewing.js';
import { apiRoutes, operationRoutes } from './routes.js';
import type { Accounts } from './rules/auth/accounts.js';
import { createAuthenticator } from './rules/auth/authenticate.js';
import type { Directory } from './rules/auth/directory.js';
import { unaskedThresholds } from './rules/moderation/thresholds.js';
import type { GatewayConfig } from './rules/policy-gateway/config.js';
import { serve } from './serve.js';
import { accountLimits, policyBook } from './store.js';
import type { TrailGround } from './trail.js';
import type { WalkParts } from './trip.js';
import { createCatalog, createPassthroughs, createProviders } from './upstreams.js';
import { createWitness } from './witness.js';

/** What outlives a reload and is shared by all generations. */
export interface Ground {
  readonly accounts: Accounts;
  /** Keys seen so far: a reload while the store is away must not forget them. */
  readonly directory: Directory;
  readonly limits: LimitGround;
  readonly policing: PolicingGround;
  readonly trail: TrailGround;
  readonly tokenizer: TextTokenizer;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly readiness: () => Readiness;
}

/** Everything made from one configuration. Requests under way finish in the generation they began in. */
export interface Generation {
  serveApi(req: IncomingMessage, res: ServerResponse): Promise<void>;
  serveOperations(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Ends every request under way with this reason, in its own format. */
  abort(reason: Error): void;
  /** Takes no new requests and closes when the last one is over. */
  retire(): Promise<void>;
}

export const createGeneration = (config: Config, ground: Ground): Generation => {
  const { directory, metrics, limits, policing, trail, log } = ground;
  const accounts: Accounts = { ...ground.accounts, limits: accountLimits(config) };
  const ticksMs = (): number => systemClock.ticksMs();
  const providers = createProviders(config);
  const authenticator = createAuthenticator({
    records: accounts.records,
    pepper: accounts.pepper,
    jwt: jwtOptions(config),
    freeRequest: freeRequestOptions(config),
    directory,
    log,
  });
  const catalog = createCatalog(config);
  const gateParts = { priceOf: (model: string) => catalog.dearest(model), configs: policing.configs, log };
  const { gate, admit, read } = createLimitGate(config, limits, gateParts);
  const roadParts = {
    catalog,
    providers,
    breakers: new Breakers({
      onChange: (provider, open) => metrics.circuit(provider, open),
    }),
    attempted: ({ provider, outcome, waitedMs }: Attempt) =>
      metrics.upstreamAttempt(provider, String(outcome), waitedMs / 1_000),
    ticksMs,
  };
  const reviewing = createReviewing(config, policing, metrics, roadParts);
  const inferenceParts: InferenceParts = {
    ...roadParts,
    review: reviewing.open,
    usdPerCredit: config.credits.usd_per_credit,
    maxAnswerBytes: config.server.max_response_bytes,
    heartbeat: config.server.heartbeat > 0 ? { bytes: heartbeat, everyMs: config.server.heartbeat } : null,
    firstToken: (model, seconds) => metrics.firstToken(model, seconds),
  };
  const door = (dialect: Dialect) => createInference(dialect, inferenceParts);
  const { records, pepper } = accounts;
  const accountParts = { accounts, records, pepper, trail: trail.trail };
  const doors = {
    policies: createPolicyDoors({
      ...accountParts,
      book: policyBook(config, accounts),
      compiler: policing.compiler,
    }),
    adminKeys: createAdminKeyDoors(accountParts),
    projects: createProjectDoors(accountParts),
    projectKeys: createProjectKeyDoors(accountParts),
    limits: createLimitDoors({
      credits: limits.guard.credits,
      read,
      tierOf: limits.tiers.tierOf,
      fund: limits.funding.fund,
      refusals: limits.refusals,
      clock: systemClock,
    }),
    billing: createBillingDoors({
      ...accountParts,
      fund: limits.funding.fund,
      tierOf: limits.tiers.tierOf,
      tally: limits.tally,
    }),
    messages: door(messagesDialect),
    responses: door(responsesDialect),
    chat: door(chatDialect),
    countTokens: createCountTokens({
      ...inferenceParts,
      breakers: new Breakers(),
      tokenizer: ground.tokenizer,
      log,
    }),
    models: createModelDoors(catalog),
    moderations: createModerations({
      engine: reviewing.parts.engine,
      threshold: unaskedThresholds(config.moderation),
    }),
    gatewayConfig: createConfigDoors({ ...accountParts, clock: systemClock }),
    simulate: createSimulateDoor({
      records,
      pepper,
      inspect: createInspection(reviewing.parts),
      isRolledBack: (organizationId, policyId) => policing.spikes.isRolledBack(organizationId, policyId),
      record: (facts) => trail.audit.record(facts),
      contentOf: reviewing.parts.capturesContent ? contentOfText : null,
    }),
    exports: createExportDoors({
      ...accountParts,
      book: trail.book,
      changed: trail.sinksChanged,
      trySink: (spec) => trail.audit.trySink(spec),
    }),
    history: createHistoryDoors({ records, pepper, audit: trail.audit }),
    healthz,
    readyz: createReadyz(ground.readiness),
    metrics: createMetricsPage(() => {
      metrics.limits.leases([...limits.gates].reduce((sum, { underWay }) => sum + underWay, 0));
      return metrics.render();
    }),
    errorsDocument,
    openapiDocument: createOpenapiDocument(readShipped('docs/openapi.json')),
  };
  const bounds = { inferenceBytes: config.server.max_body_bytes, metricsPath: config.telemetry.metrics.path };
  const operations = operationRoutes(doors, bounds);
  const api = apiRoutes(doors, bounds, createPassthroughs(config, ticksMs));
  const onePort = config.server.admin_port === null;
  const findClient = findClientBehind(config.server.trusted_proxies);
  const configOf = (organizationId: string): GatewayConfig | Promise<GatewayConfig> => {
    const compiled = policing.configs.get(organizationId);
    return compiled instanceof Promise ? compiled.then(({ config: own }) => own) : compiled.config;
  };
  const parts: WalkParts = {
    match: compileMatcher(onePort ? [...api, ...operations] : api),
    identify: async (req, route, clientAddress) => {
      const arrival = { headers: req.headers, rule: route.auth, family: route.family, clientAddress };
      const principal = await authenticator.authenticate(arrival);
      return { principal, unused: () => authenticator.giveBack(principal) };
    },
    admit,
    tally: (principal, meter) => limits.tally.note(principal, meter),
    checkProject: createProjectCheck({ configOf, show: config.policies.show_decisions }),
    witness: createWitness({
      recorder: trail.audit,
      spikes: policing.spikes,
      configOf,
      show: config.policies.show_decisions,
      events: config.audit.events,
      metrics: metrics.policing,
      clock: systemClock,
      log,
    }),
    usdPerCredit: config.credits.usd_per_credit,
    clientAddress: (req) => findClient(req.socket.remoteAddress, headerText(req.headers['x-forwarded-for'])),
    log,
    metrics,
    clock: systemClock,
  };
  const operationParts: WalkParts = { ...parts, match: compileMatcher(operations) };

  const underWay = new Set<AbortController>();
  let whenIdle: (() => void) | null = null;
  const run = async (req: IncomingMessage, res: ServerResponse, walk: WalkParts): Promise<void> => {
    const abort = new AbortController();
    underWay.add(abort);
    try {
      await serve(req, res, walk, abort);
    } finally {
      underWay.delete(abort);
      if (underWay.size === 0) whenIdle?.();
    }
  };

  return {
    serveApi: (req, res) => run(req, res, parts),
    serveOperations: (req, res) => run(req, res, operationParts),
    abort: (reason) => {
      for (const each of underWay) each.abort(reason);
    },
    retire: async () => {
      if (underWay.size > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
      limits.gates.delete(gate);
      await gate.close();
      await authenticator.close();
      await Promise.all([...providers.values()].map((provider) => provider.close()));
    },
  };
};

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

const jwtOptions = ({ auth: { jwt } }: Config) =>
  jwt.enabled
    ? {
        issuer: jwt.issuer,
        audience: jwt.audience,
        algorithms: jwt.algorithms,
        jwksUrl: jwt.jwks_url,
        secret: jwt.secret,
      }
    : null;

const freeRequestOptions = ({ credits: { free_request: free } }: Config) =>
  free.enabled ? { model: free.model, maxTokens: free.max_tokens, dailyCap: null, subnetOf } : null;
