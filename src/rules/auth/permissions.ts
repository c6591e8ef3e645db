import { invalidParameter, lacksPermission } from '../../core/errors.js';
import {
  adminPermissions,
  holds,
  projectPermissions,
  type Permission,
  type Principal,
} from '../../core/principal.js';
import type { KeyKind } from './secrets.js';

const known: Readonly<Record<KeyKind, readonly string[]>> = {
  admin: ['*', ...adminPermissions],
  project: projectPermissions,
};

/** Administrators do not hold `inference` themselves; who may make project keys may hand it out. */
const mayGrant = (creator: Principal | null, permission: string): boolean => {
  if (creator === null || permission === 'inference') return true;
  return permission === '*' ? creator.permissions.has('*') : holds(creator, permission as Permission);
};

/** What a key gets when its creator names nothing: as much as may be given, but never the one that creates money. */
const defaultPermissions = (kind: KeyKind, creator: Principal | null): readonly string[] => {
  if (kind === 'admin' && mayGrant(creator, '*')) return ['*'];
  return known[kind].filter((permission) => permission !== 'credits.write' && mayGrant(creator, permission));
};

/** The permissions of a new key: a subset of its creator's (D4); null = the operator, who may give any. */
export const grant = (
  kind: KeyKind,
  asked: readonly string[] | undefined,
  creator: Principal | null,
): readonly string[] => {
  if (asked === undefined) return defaultPermissions(kind, creator);
  asked.forEach((permission, index) => {
    if (!known[kind].includes(permission))
      throw invalidParameter(`permissions.${index}`, `must be one of ${known[kind].join(', ')}.`);
  });
  for (const permission of asked) if (!mayGrant(creator, permission)) throw lacksPermission(permission);
  return [...new Set(asked)];
};
