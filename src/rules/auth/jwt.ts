import { createHash, createSecretKey } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import type { Clock } from '../../core/clock.js';
import { badKey, GatewayError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { projectPermissions, type Principal } from '../../core/principal.js';
import { RemoteKeySet } from './key-set.js';

const TOLERANCE_S = 30;
const REMEMBER_MS = 30_000;
const REMEMBERED = 5_000;
const KID_CHARACTERS = 128;
const SECRET_BYTES = 32;
const SYMMETRIC = ['HS256', 'HS384', 'HS512'];
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Other kinds (logout+jwt, dpop+jwt) are signed by the same issuer for other ends. */
const TYPES = ['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt'];

export interface JwtOptions {
  /** May be empty only with a shared secret, which nobody but the issuer has. */
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  /** Exactly one of these two is not empty. */
  readonly jwksUrl: string;
  readonly secret: string;
}

/** What a verified token says. */
export interface JwtClaims {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly subject: string;
  readonly permissions: ReadonlySet<string>;
  readonly expiresAtMs: number;
  principal: Principal | null;
}

export interface JwtVerifier {
  /** Throws the 401 that says what is wrong with the token. */
  verify(token: string): Promise<JwtClaims>;
  close(): Promise<void>;
}

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,200}$/));

const Claims = v.object({
  org_id: id,
  project_id: v.nullish(id),
  sub: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  exp: v.number(),
  permissions: v.optional(v.array(v.string())),
  scope: v.optional(v.string()),
});

const defaultPermissions = ['inference', 'gateway.read'];

const readClaims = (payload: JWTPayload): JwtClaims => {
  const read = v.safeParse(Claims, payload);
  if (!read.success) throw badKey();
  const { org_id, project_id, sub, exp, permissions, scope } = read.output;
  const asked = permissions ?? scope?.split(' ') ?? defaultPermissions;
  return {
    organizationId: org_id,
    projectId: project_id ?? null,
    subject: sub,
    permissions: new Set(projectPermissions.filter((permission) => asked.includes(permission))),
    expiresAtMs: exp * 1_000,
    principal: null,
  };
};

/** Why these options cannot be used; null when they can. Symmetric and asymmetric keys never meet. */
export const jwtFault = ({ issuer, audience, algorithms, jwksUrl, secret }: JwtOptions): string | null => {
  if ((jwksUrl === '') === (secret === '')) return 'needs either jwks_url or secret';
  const allowed = secret === '' ? ASYMMETRIC : SYMMETRIC;
  if (algorithms.length === 0 || !algorithms.every((algorithm) => allowed.includes(algorithm)))
    return `algorithms must be among ${allowed.join(', ')} with ${secret === '' ? 'jwks_url' : 'secret'}`;
  if (secret !== '')
    return Buffer.byteLength(secret) < SECRET_BYTES ? `secret must have ${SECRET_BYTES} bytes or more` : null;
  if (!URL.canParse(jwksUrl) || !/^https?:$/.test(new URL(jwksUrl).protocol))
    return 'jwks_url must be an http(s) address';
  return issuer === '' || audience === '' ? 'issuer and audience are needed with jwks_url' : null;
};

const asRefusal = (error: unknown): unknown => {
  if (error instanceof GatewayError) return error;
  if (error instanceof errors.JWTExpired) return badKey('expired_api_key');
  // Includes the TypeErrors of a key that does not fit the algorithm: whatever fails to verify is refused.
  return badKey();
};

export const createJwtVerifier = (options: JwtOptions, clock: Clock, log: Log): JwtVerifier => {
  const fault = jwtFault(options);
  if (fault !== null) throw new Error(`auth.jwt: ${fault}.`);
  const keySet = options.jwksUrl === '' ? null : new RemoteKeySet({ url: options.jwksUrl, clock, log });
  const secret = options.secret === '' ? null : createSecretKey(Buffer.from(options.secret));
  const remembered = new LRUCache<string, { readonly claims: JwtClaims; readonly untilMs: number }>({
    max: REMEMBERED,
  });
  const fixed: JWTVerifyOptions = {
    algorithms: [...options.algorithms],
    ...(options.issuer !== '' && { issuer: options.issuer }),
    ...(options.audience !== '' && { audience: options.audience }),
    requiredClaims: ['exp', 'sub', 'org_id'],
    clockTolerance: TOLERANCE_S,
  };
  const getKey: JWTVerifyGetKey = (header) => {
    if (header.kid !== undefined && header.kid.length > KID_CHARACTERS) throw badKey();
    if (header.typ !== undefined && !TYPES.includes(header.typ.toLowerCase())) throw badKey();
    return secret ?? keySet!.keyFor(header);
  };

  return {
    async verify(token) {
      const nowMs = clock.nowMs();
      const digest = createHash('sha256').update(token).digest('base64');
      const known = remembered.get(digest);
      if (known && nowMs < known.untilMs) return known.claims;
      const claims = await jwtVerify(token, getKey, { ...fixed, currentDate: new Date(nowMs) }).then(
        ({ payload }) => readClaims(payload),
        (error: unknown) => Promise.reject(asRefusal(error) as Error),
      );
      const untilMs = Math.min(nowMs + REMEMBER_MS, claims.expiresAtMs);
      if (untilMs > nowMs) remembered.set(digest, { claims, untilMs });
      return claims;
    },
    close: async () => keySet?.close(),
  };
};
