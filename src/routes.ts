import type { Demand, Route } from './core/exchange.js';
import type { AdminKeyDoors } from './endpoints/administration/admin-keys.js';
import type { BillingDoors } from './endpoints/administration/billing.js';
import { billingDocs } from './endpoints/administration/billing-docs.js';
import { adminKeyDocs, projectDocs, projectKeyDocs } from './endpoints/administration/key-docs.js';
import type { PolicyDoors } from './endpoints/administration/policies.js';
import { policyDocs } from './endpoints/administration/policy-docs.js';
import type { ProjectDoors, ProjectKeyDoors } from './endpoints/administration/projects.js';
import { inferenceDocs } from './endpoints/inference-docs.js';
import { limitDocs } from './endpoints/limit-docs.js';
import type { LimitDoors } from './endpoints/limits.js';
import { modelDocs } from './endpoints/model-docs.js';
import type { ModelDoors } from './endpoints/models.js';
import { moderationDoc } from './endpoints/moderation-docs.js';
import { operationDocs } from './endpoints/operation-docs.js';
import { gatewayConfigDocs, simulateDoc } from './endpoints/policy-gateway/config-docs.js';
import type { ConfigDoors } from './endpoints/policy-gateway/config.js';
import { exportDocs } from './endpoints/policy-gateway/exports-docs.js';
import type { ExportDoors } from './endpoints/policy-gateway/exports.js';
import { historyDocs } from './endpoints/policy-gateway/history-docs.js';
import type { HistoryDoors } from './endpoints/policy-gateway/history.js';
import {
  countRow,
  gateway,
  inference,
  moderationRow,
  modelRow,
  orFree,
  organization,
  page,
  reading,
  type Handle,
} from './rows.js';

export interface Doors {
  readonly messages: Handle;
  readonly responses: Handle;
  readonly chat: Handle;
  readonly countTokens: Handle;
  readonly models: ModelDoors;
  readonly moderations: Handle;
  readonly gatewayConfig: ConfigDoors;
  readonly simulate: Handle;
  readonly exports: ExportDoors;
  readonly history: HistoryDoors;
  readonly healthz: Handle;
  readonly readyz: Handle;
  readonly metrics: Handle;
  readonly errorsDocument: Handle;
  readonly openapiDocument: Handle;
  readonly policies: PolicyDoors;
  readonly adminKeys: AdminKeyDoors;
  readonly projects: ProjectDoors;
  readonly projectKeys: ProjectKeyDoors;
  readonly limits: LimitDoors;
  readonly billing: BillingDoors;
}

export interface Bounds {
  readonly inferenceBytes: number;
  readonly metricsPath: string;
}

/** A path of a provider that is handed through unread (D43). */
export interface Passthrough {
  readonly path: string;
  readonly demand: (body: unknown, bytes: number) => Demand;
  readonly handle: Handle;
}

/** Probes, metrics and documents: beside the API, or on a port of their own (D48). */
export const operationRoutes = (doors: Doors, bounds: Bounds): readonly Route[] => [
  page('healthz', '/healthz', doors.healthz, operationDocs.healthz),
  page('readyz', '/readyz', doors.readyz, operationDocs.readyz),
  page('metrics', bounds.metricsPath, doors.metrics, operationDocs.metrics),
  page('docs_errors', '/docs/errors', doors.errorsDocument, operationDocs.errors),
  page('openapi', '/openapi.json', doors.openapiDocument, operationDocs.openapi),
];

const policyRoutes = ({ policies }: Doors): readonly Route[] => {
  const [all, one] = ['/policies', '/policies/{policy_id}'];
  const read = 'policies.read';
  const write = 'policies.write';
  const publish = 'policies.publish';
  return [
    organization('list_policies', 'GET', all, read, policies.list, policyDocs.list),
    organization('create_policy', 'POST', all, write, policies.create, policyDocs.create),
    organization('get_policy', 'GET', one, read, policies.get, policyDocs.get),
    organization('update_policy', 'PATCH', one, write, policies.update, policyDocs.update),
    organization('publish_policy', 'POST', `${one}/publish`, publish, policies.publish, policyDocs.publish),
    organization('pause_policy', 'POST', `${one}/pause`, publish, policies.pause, policyDocs.pause),
    organization('resume_policy', 'POST', `${one}/resume`, publish, policies.resume, policyDocs.resume),
    organization('restore_policy', 'POST', `${one}/restore`, write, policies.restore, policyDocs.restore),
    organization('delete_policy', 'DELETE', one, 'policies.delete', policies.remove, policyDocs.remove),
    organization(
      'list_policy_versions',
      'GET',
      `${one}/versions`,
      read,
      policies.versions,
      policyDocs.versions,
    ),
  ];
};

const adminKeyRoutes = ({ adminKeys }: Doors): readonly Route[] => {
  const [all, one] = ['/admin_api_keys', '/admin_api_keys/{key_id}'];
  const [read, write] = ['admin_api_keys.read', 'admin_api_keys.write'] as const;
  return [
    organization('list_admin_api_keys', 'GET', all, read, adminKeys.list, adminKeyDocs.list),
    organization('create_admin_api_key', 'POST', all, write, adminKeys.create, adminKeyDocs.create),
    organization('get_admin_api_key', 'GET', one, read, adminKeys.get, adminKeyDocs.get),
    organization('delete_admin_api_key', 'DELETE', one, write, adminKeys.remove, adminKeyDocs.remove),
  ];
};

const projectRoutes = ({ projects, projectKeys }: Doors): readonly Route[] => {
  const [all, one] = ['/projects', '/projects/{project_id}'];
  const [keys, key] = [`${one}/api_keys`, `${one}/api_keys/{key_id}`];
  const [read, write] = ['projects.read', 'projects.write'] as const;
  return [
    organization('list_projects', 'GET', all, read, projects.list, projectDocs.list),
    organization('create_project', 'POST', all, write, projects.create, projectDocs.create),
    organization('get_project', 'GET', one, read, projects.get, projectDocs.get),
    organization('list_project_api_keys', 'GET', keys, read, projectKeys.list, projectKeyDocs.list),
    organization('create_project_api_key', 'POST', keys, write, projectKeys.create, projectKeyDocs.create),
    organization('get_project_api_key', 'GET', key, read, projectKeys.get, projectKeyDocs.get),
    organization('delete_project_api_key', 'DELETE', key, write, projectKeys.remove, projectKeyDocs.remove),
  ];
};

const limitRoutes = ({ limits, billing }: Doors): readonly Route[] => {
  const [read, write] = ['limits.read', 'credits.write'] as const;
  return [
    {
      ...reading('get_credits', '/v1/credits', 'project_key', limits.credits, limitDocs.credits),
      limits: 'credits',
    },
    reading('get_limits', '/v1/limits', 'project_key', limits.own, limitDocs.own),
    reading(
      'get_request_limits',
      '/v1/requests/{request_id}/limits',
      'gateway',
      limits.request,
      limitDocs.request,
    ),
    organization(
      'get_organization_limits',
      'GET',
      '/limits',
      read,
      limits.organization,
      limitDocs.organization,
    ),
    organization('get_organization_usage', 'GET', '/usage', read, billing.usage, billingDocs.usage),
    organization('create_credit_grant', 'POST', '/credits', write, billing.grant, billingDocs.grant),
    organization('create_payment', 'POST', '/payments', write, billing.pay, billingDocs.pay),
  ];
};

const modelRoutes = ({ models }: Doors): readonly Route[] => [
  modelRow('list_models', '', models.list, modelDocs.list),
  modelRow('get_model', '/{model}', models.get, modelDocs.get),
  modelRow('get_model', '/{model}/*', models.get),
];

const gatewayRoutes = ({ gatewayConfig, simulate, exports, history }: Doors): readonly Route[] => {
  const [all, one] = ['/exports', '/exports/{export_id}'];
  const [read, write] = ['gateway.read', 'gateway.write'] as const;
  const docs = gatewayConfigDocs;
  return [
    gateway('get_gateway_config', 'GET', '/config', read, gatewayConfig.get, docs.get),
    gateway('save_gateway_config', 'POST', '/config', write, gatewayConfig.save, docs.save),
    gateway('list_gateway_configs', 'GET', '/config/history', read, gatewayConfig.history, docs.history),
    gateway('simulate', 'POST', '/simulate', read, simulate, simulateDoc),
    gateway('list_exports', 'GET', all, read, exports.list, exportDocs.list),
    gateway('create_export', 'POST', all, write, exports.create, exportDocs.create),
    gateway('get_export', 'GET', one, read, exports.get, exportDocs.get),
    gateway('update_export', 'PATCH', one, write, exports.update, exportDocs.update),
    gateway('delete_export', 'DELETE', one, write, exports.remove, exportDocs.remove),
    { ...gateway('test_export', 'POST', `${one}/test`, write, exports.test, exportDocs.test), body: 'none' },
    { ...gateway('list_history', 'GET', '/history', read, history.list, historyDocs.list), permission: null },
    gateway('erase_history', 'DELETE', '/history', write, history.erase, historyDocs.erase),
  ];
};

/** The whole API as one table. */
export const apiRoutes = (
  doors: Doors,
  bounds: Bounds,
  passthroughs: readonly Passthrough[],
): readonly Route[] => {
  const { inferenceBytes: bytes } = bounds;
  const { messages, responses, chat } = inferenceDocs;
  return [
    ...policyRoutes(doors),
    ...adminKeyRoutes(doors),
    ...projectRoutes(doors),
    ...limitRoutes(doors),
    ...gatewayRoutes(doors),
    moderationRow(doors.moderations, bytes, moderationDoc),
    orFree(inference('messages', '/v1/messages', 'messages', bytes, doors.messages, messages)),
    countRow(doors.countTokens, bytes),
    ...modelRoutes(doors),
    orFree(inference('responses', '/v1/responses', 'responses', bytes, doors.responses, responses)),
    inference('chat_completions', '/v1/chat/completions', 'openai', bytes, doors.chat, chat),
    ...passthroughs.map(({ path, demand, handle }): Route => ({
      ...inference('passthrough', path, 'openai', bytes, handle),
      demand,
      body: 'raw',
    })),
  ];
};
