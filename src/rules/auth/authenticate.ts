import type { IncomingHttpHeaders } from 'node:http';
import { systemClock, type Clock } from '../../core/clock.js';
import { badKey, GatewayError, missingKey } from '../../core/errors.js';
import type { AuthRule, Family } from '../../core/exchange.js';
import { silentLog, type Log } from '../../core/log.js';
import type { Organization, Principal } from '../../core/principal.js';
import type { Records } from '../../io/records/records.js';
import { readCredential } from './credential.js';
import { createDirectory, type Directory, type Key } from './directory.js';
import {
  anonymousOrganization,
  asksFreeRequest,
  createFreeRequests,
  type FreeRequestOptions,
} from './free-request.js';
import { createJwtVerifier, type JwtClaims, type JwtOptions } from './jwt.js';
import { digestOf } from './secrets.js';
import { UseLog } from './uses.js';

export interface AuthenticatorOptions {
  readonly records: Records;
  readonly pepper: Buffer;
  /** Known keys, where they outlive this authenticator; absent = it keeps its own. */
  readonly directory?: Directory;
  readonly jwt?: JwtOptions | null;
  readonly freeRequest?: FreeRequestOptions | null;
  /** The store went away and seen keys serve from memory (true), or it answers again (false). */
  readonly onDegraded?: (degraded: boolean) => void;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly maxKeys?: number;
  readonly maxOrganizations?: number;
  readonly flushUsesEveryMs?: number;
}

/** What authentication looks at of a request. */
export interface Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly rule: AuthRule;
  readonly family: Family;
  readonly clientAddress: string;
}

export interface Authenticator {
  readonly authenticate: (arrival: Arrival) => Promise<Principal>;
  /** Returns the free request of a call that never reached an upstream; does nothing for any other principal. */
  readonly giveBack: (principal: Principal) => Promise<void>;
  /** The store does not answer; only keys seen before are served. */
  readonly degraded: () => boolean;
  readonly close: () => Promise<void>;
}

/** Who calls a public route. */
export const nobody: Principal = {
  kind: 'anonymous',
  organization: anonymousOrganization,
  projectId: null,
  keyId: 'nobody',
  permissions: new Set(),
  models: null,
  creditBudget: null,
};

interface Taken {
  readonly kinds: readonly Principal['kind'][];
  readonly wrongKind: string;
}

const inferenceKinds: Taken = {
  kinds: ['project', 'jwt'],
  wrongKind: 'This route takes a project API key or a JWT.',
};

const taken: Readonly<Record<Exclude<AuthRule, 'public'>, Taken>> = {
  admin: { kinds: ['admin'], wrongKind: 'This route takes an administrator key.' },
  gateway: { kinds: ['admin', 'project', 'jwt'], wrongKind: 'This route takes an API key or a JWT.' },
  inference: inferenceKinds,
  inference_or_free: inferenceKinds,
  project_key: { kinds: ['project'], wrongKind: 'This route takes a project API key.' },
};

const fromBrowser = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;

const browserForbidden = (): GatewayError =>
  new GatewayError('browser_use_forbidden', 'Administrator keys are for servers, never for browsers.');

const ofKey = (key: Key, organization: Organization): Principal => ({
  kind: key.kind,
  organization,
  projectId: key.projectId,
  keyId: key.id,
  permissions: key.permissions,
  models: key.models,
  creditBudget: key.creditBudget,
});

const ofClaims = (claims: JwtClaims, organization: Organization): Principal => ({
  kind: 'jwt',
  organization,
  projectId: claims.projectId,
  keyId: claims.subject,
  permissions: claims.permissions,
  models: null,
  creditBudget: null,
});

/** Says who is calling, or throws the error that says why nobody is. */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { records, pepper, clock = systemClock, log = silentLog } = options;
  const jwt = options.jwt ? createJwtVerifier(options.jwt, clock, log) : null;
  const directory = options.directory ?? createDirectory({ ...options, clock });
  const { keys, organizations, degraded } = directory;
  const uses = new UseLog({ records, log, flushEveryMs: options.flushUsesEveryMs ?? 5_000 });
  const freeRequests = options.freeRequest
    ? createFreeRequests(options.freeRequest, { records, pepper, clock, log })
    : null;

  const organizationOf = async (id: string): Promise<Organization> => {
    const organization = organizations.fresh(id) ?? (await organizations.get(id));
    if (!organization) throw badKey();
    return organization;
  };

  const authenticateKey = async (secret: string): Promise<Principal> => {
    const digest = digestOf(pepper, secret);
    const key = keys.fresh(digest) ?? (await keys.get(digest));
    if (!key) throw badKey();
    if (key.revoked) throw badKey('revoked_api_key');
    if (clock.nowMs() >= key.expiresAtMs) throw badKey('expired_api_key');
    const organization = await organizationOf(key.pointer.partition);
    if (key.principal?.organization !== organization) key.principal = ofKey(key, organization);
    return key.principal;
  };

  const authenticateJwt = async (token: string): Promise<Principal> => {
    if (!jwt) throw badKey();
    const claims = await jwt.verify(token);
    const organization = await organizationOf(claims.organizationId);
    if (claims.principal?.organization !== organization) claims.principal = ofClaims(claims, organization);
    return claims.principal;
  };

  return {
    async authenticate({ headers, rule, family, clientAddress }) {
      if (rule === 'public') return nobody;
      if (rule === 'admin' && fromBrowser(headers)) throw browserForbidden();
      const { kinds, wrongKind } = taken[rule];
      const credential = readCredential(headers, family);
      if (!credential) {
        const free = rule === 'inference_or_free' && asksFreeRequest(headers['x-free-tier']);
        if (free && freeRequests) return freeRequests.take(clientAddress);
        throw missingKey();
      }
      if (credential.kind === 'jwt' && !kinds.includes('jwt')) throw badKey('invalid_api_key', wrongKind);
      const principal =
        credential.kind === 'jwt'
          ? await authenticateJwt(credential.token)
          : await authenticateKey(credential.secret);
      if (!kinds.includes(principal.kind)) throw badKey('invalid_api_key', wrongKind);
      if (principal.kind === 'admin' && fromBrowser(headers)) throw browserForbidden();
      if (principal.kind !== 'jwt') uses.note(principal.organization.id, principal.keyId, clock.nowMs());
      return principal;
    },
    giveBack: async (principal) => freeRequests?.giveBack(principal),
    degraded,
    async close() {
      if (!options.directory) directory.close();
      await uses.close();
      await jwt?.close();
    },
  };
};
