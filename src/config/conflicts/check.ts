import type { Finding, Path } from '../faults.js';
import type { Config } from '../schema.js';

export type Section = keyof Config;

export interface Check {
  /** The sections it reads: it runs only where all of them are well formed. */
  readonly reads: readonly Section[];
  find(config: Config, given: object): Finding[];
}

interface Use {
  readonly what: string;
  readonly path: Path;
  readonly message: string;
}

/** Second and later uses of what must be unique. */
export function findRepeats(uses: readonly Use[]): Finding[] {
  const seen = new Set<string>();
  return uses.flatMap(({ what, path, message }) => {
    if (seen.has(what)) return [{ path, message }];
    seen.add(what);
    return [];
  });
}

const OWN_PATHS = [
  '/v1/messages',
  '/v1/responses',
  '/v1/chat',
  '/v1/models',
  '/v1/moderations',
  '/v1/credits',
  '/v1/limits',
  '/v1/organization',
  '/api/policy-gateway',
  '/healthz',
  '/readyz',
  '/docs',
  '/openapi.json',
];

export const isOwnPath = (path: string): boolean =>
  OWN_PATHS.some((own) => path === own || path.startsWith(`${own}/`));
