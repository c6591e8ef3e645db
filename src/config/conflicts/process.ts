import type { Finding, Path } from '../faults.js';
import { findRepeats, isOwnPath, type Check } from './check.js';

export const listener: Check = {
  reads: ['server', 'telemetry', 'console'],
  find({ server, telemetry, console: web }) {
    const findings: Finding[] = [];
    if (server.admin_port !== null && server.admin_port === server.port && server.port !== 0)
      findings.push({ path: ['server', 'admin_port'], message: 'must differ from server.port' });
    const metrics = telemetry.metrics.path;
    if (isOwnPath(metrics))
      findings.push({ path: ['telemetry', 'metrics', 'path'], message: 'is a path of the gateway itself' });
    if (isOwnPath(web.path))
      findings.push({ path: ['console', 'path'], message: 'is a path of the gateway itself' });
    if (web.enabled && (metrics === web.path || metrics.startsWith(`${web.path}/`)))
      findings.push({ path: ['console', 'path'], message: 'must not cover telemetry.metrics.path' });
    return findings;
  },
};

export const storage: Check = {
  reads: ['store', 'auth'],
  find({ store, auth }) {
    const findings: Finding[] = [];
    if (auth.pepper !== '' && Buffer.byteLength(auth.pepper) < 32)
      findings.push({ path: ['auth', 'pepper'], message: 'must have at least 32 bytes' });
    if (store.kind !== 'redis') return findings;
    if (auth.pepper === '')
      findings.push({
        path: ['auth', 'pepper'],
        message: 'must be set when store.kind is redis: every replica has to hash keys alike',
      });
    if (store.redis.cluster.length > 0 && store.redis.sentinel !== null)
      findings.push({
        path: ['store', 'redis', 'sentinel'],
        message: 'cannot be combined with store.redis.cluster',
      });
    if (store.redis.url === '' && store.redis.cluster.length === 0 && store.redis.sentinel === null)
      findings.push({
        path: ['store', 'redis', 'url'],
        message: 'must not be empty without cluster or sentinel',
      });
    return findings;
  },
};

export const tokens: Check = {
  reads: ['auth'],
  find({ auth: { jwt } }) {
    if (!jwt.enabled) return [];
    const at = (key: string): Path => ['auth', 'jwt', key];
    if (jwt.jwks_url === '' && jwt.secret === '')
      return [{ path: at('enabled'), message: 'needs jwks_url or secret beside it' }];
    if (jwt.jwks_url !== '' && jwt.secret !== '')
      return [
        {
          path: at('secret'),
          message: 'cannot be combined with jwks_url: a public key would pass as the secret',
        },
      ];
    const symmetric = jwt.secret !== '';
    const findings = jwt.algorithms.flatMap((algorithm, index): Finding[] => {
      if (algorithm.startsWith('HS') === symmetric) return [];
      const message = symmetric
        ? 'needs jwks_url; with secret only HS256, HS384, HS512'
        : 'needs secret, not jwks_url';
      return [{ path: [...at('algorithms'), index], message }];
    });
    for (const key of ['issuer', 'audience'] as const)
      if (!symmetric && jwt[key] === '')
        findings.push({
          path: at(key),
          message: 'must be set with jwks_url, or tokens made for others would pass',
        });
    return findings;
  },
};

export const limiter: Check = {
  reads: ['limits', 'moderation'],
  find({ limits, moderation }) {
    const at = (index: number, key: string): Path => ['limits', 'overrides', index, key];
    const findings = findRepeats(
      limits.overrides.map(({ scope, id }, index) => ({
        what: `${scope} ${id}`,
        path: at(index, 'id'),
        message: `has an override for this ${scope} already`,
      })),
    );
    for (const [index, override] of limits.overrides.entries()) {
      const { scope, rpm, rpd, tpm, tpd, concurrent } = override;
      if (tpd !== undefined && scope !== 'organization')
        findings.push({
          path: at(index, 'tpd'),
          message: 'has no effect here: tokens a day are limited per organization only',
        });
      if ([rpm, rpd, tpm, tpd, concurrent].every((limit) => limit === undefined))
        findings.push({ path: ['limits', 'overrides', index], message: 'changes no limit' });
    }
    if (moderation.engine === 'http' && moderation.http.url === '')
      findings.push({
        path: ['moderation', 'http', 'url'],
        message: 'must be set when moderation.engine is http',
      });
    return findings;
  },
};
