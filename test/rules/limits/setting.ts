import { newId } from '../../../src/core/ids.js';
import {
  noLimits,
  type AdmitRequest,
  type Limiter,
  type Limits,
  type SettleRequest,
} from '../../../src/rules/limits/limiter.js';
import { openEmbeddedLimiter } from '../../../src/rules/limits/embedded.js';
import { openRedisLimiter } from '../../../src/rules/limits/redis.js';
import { ManualClock } from '../../support/manual-clock.js';
import { startRedis } from '../../support/redis.js';

export interface Given {
  readonly org?: Partial<Limits>;
  readonly project?: Partial<Limits> | null;
  readonly key?: Partial<Limits>;
  readonly ids?: { readonly org?: string; readonly project?: string; readonly key?: string };
}

/** A request of the inference space; what is not given is unlimited, unmetered and takes no tokens. */
export const requestWith = (given: Given & Partial<AdmitRequest> = {}): AdmitRequest => {
  const { org, project, key, ids, ...rest } = given;
  const organizationId = ids?.org ?? 'org_a';
  return {
    space: 'inference',
    organizationId,
    scopes: [
      { kind: 'organization', id: organizationId, limits: { ...noLimits, ...org } },
      ...(project === null
        ? []
        : [{ kind: 'project', id: ids?.project ?? 'proj_a', limits: { ...noLimits, ...project } } as const]),
      { kind: 'key', id: ids?.key ?? 'key_a', limits: { ...noLimits, ...key } },
    ],
    quotas: [],
    leaseId: newId('lease'),
    takesLease: true,
    tokens: 0,
    credits: null,
    countRefused: 'key',
    enforce: true,
    ...rest,
  };
};

export const settleOf = (
  request: AdmitRequest,
  tokens: number,
  credits: number | null = null,
  more: Partial<SettleRequest> = {},
): SettleRequest => ({
  space: request.space,
  organizationId: request.organizationId,
  scopes: request.scopes,
  quotas: request.quotas,
  leaseId: request.leaseId,
  tokens,
  credits,
  ...more,
});

export interface Bench {
  readonly name: string;
  readonly clock: ManualClock;
  readonly limiter: Limiter;
}

interface Subject {
  teardown(undo: () => unknown): unknown;
}

const prefixes = { next: 0 };

/** Both limiters, each on a clock of its own that a test drives. */
export const openBoth = async (t: Subject): Promise<readonly [Bench, Bench]> => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const open = async (): Promise<readonly [Bench, Bench]> => {
    const [mine, theirs] = [new ManualClock(), new ManualClock()];
    const embedded = await openEmbeddedLimiter({ folder: null, clock: mine });
    const redis = await openRedisLimiter({
      url: server.url,
      keyPrefix: `t${prefixes.next++}:`,
      clock: theirs,
      commandTimeoutMs: 10_000,
    });
    t.teardown(() => embedded.close());
    t.teardown(() => redis.close());
    return [
      { name: 'embedded', clock: mine, limiter: embedded },
      { name: 'redis', clock: theirs, limiter: redis },
    ];
  };
  return open();
};
