import type { GatewayConfig } from './config.js';

/** A calendar bucket for the limiter; null = no bound. */
export interface QuotaSpec {
  readonly subject: 'user' | 'project';
  readonly id: string;
  readonly window: 'daily' | 'weekly' | 'monthly';
  readonly requests: number | null;
  readonly tokens: number | null;
}

export interface QuotaHolder {
  /** `X-Policy-User`. */
  readonly user: string | null;
  readonly projectId: string | null;
  readonly keyId: string;
}

type QuotaRule = GatewayConfig['org_controls']['user_quota'];

const none: readonly QuotaSpec[] = Object.freeze([]);

/** What a request counts against (D24). */
export const quotasOf = (
  { org_controls: controls }: GatewayConfig,
  { user, projectId, keyId }: QuotaHolder,
): readonly QuotaSpec[] => {
  const ofUser = controls.user_quotas && isBounded(controls.user_quota);
  const ofProject = projectId !== null && isBounded(controls.project_quota);
  if (!ofUser && !ofProject) return none;
  return [
    ...(ofUser ? [specOf('user', user ?? keyId, controls.user_quota)] : []),
    ...(ofProject ? [specOf('project', projectId, controls.project_quota)] : []),
  ];
};

const isBounded = ({ requests, tokens }: QuotaRule): boolean => requests > 0 || tokens > 0;

const specOf = (
  subject: QuotaSpec['subject'],
  id: string,
  { window, requests, tokens }: QuotaRule,
): QuotaSpec => ({
  subject,
  id,
  window,
  requests: requests > 0 ? requests : null,
  tokens: tokens > 0 ? tokens : null,
});
