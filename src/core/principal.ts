/** What the limiter and the policies need to know of an organization. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly lifetimePaidUsd: number;
  /** Whether requests consume credits; the balance itself lives with the limiter. */
  readonly metered: boolean;
}

export type Plan = 'free' | 'developer' | 'growth' | 'scale';

export const adminPermissions = [
  'policies.read',
  'policies.write',
  'policies.publish',
  'policies.delete',
  'admin_api_keys.read',
  'admin_api_keys.write',
  'projects.read',
  'projects.write',
  'gateway.read',
  'gateway.write',
  'audit.read',
  'limits.read',
  'credits.write',
] as const;

export const projectPermissions = ['inference', 'gateway.read', 'gateway.write'] as const;

export type Permission = (typeof adminPermissions)[number] | (typeof projectPermissions)[number];

/** Who is calling. `keyId` names the key scope of the limits: a key's id, or a JWT's subject. */
export interface Principal {
  readonly kind: 'admin' | 'project' | 'jwt' | 'anonymous';
  readonly organization: Organization;
  readonly projectId: string | null;
  readonly keyId: string;
  readonly permissions: ReadonlySet<string>;
  /** Model names or wildcards the key may use; null = all. */
  readonly models: readonly string[] | null;
  readonly creditBudget: number | null;
  /** Most tokens an answer may have; absent = the model's own bound. */
  readonly maxOutputTokens?: number;
}

/** `*` grants every permission but the one that creates money. */
export const holds = (principal: Principal, permission: Permission): boolean =>
  principal.permissions.has(permission) || (permission !== 'credits.write' && principal.permissions.has('*'));
