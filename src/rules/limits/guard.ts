import { systemClock, type Clock } from '../../core/clock.js';
import { GatewayError } from '../../core/errors.js';
import { silentLog, type Log } from '../../core/log.js';
import { Breakers } from '../../io/upstream/breaker.js';
import { createEmbeddedLimiter, type EmbeddedLimiter } from './embedded.js';
import { silentEvents, type LimitEvents } from './events.js';
import type { AdmitReply, AdmitRequest, Limiter, Progress, SettleReply, SettleRequest } from './limiter.js';
import { Allowances, createScopeShares } from './local-share.js';
import { Posting } from './posting.js';

export interface GuardOptions {
  readonly limiter: Limiter;
  /** How to decide while it is away; null = it cannot be (embedded). */
  readonly away: {
    readonly mode: 'local' | 'closed' | 'open';
    readonly replicasHint: number;
    /** Most credits an organization may spend here during one absence. */
    readonly creditCap?: number;
  } | null;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly events?: LimitEvents;
}

/** Where a lease was given, which is where it ends. */
export interface Admitted {
  /** null = open mode, which asks nobody. */
  readonly reply: AdmitReply | null;
  readonly degraded: boolean;
  readonly settle: (request: SettleRequest) => Promise<number | null>;
  readonly renew: Limiter['renew'] | null;
}

/** The limiter as the gate sees it: it always answers, by itself where it must. */
export interface Guard extends Pick<Limiter, 'read' | 'credits'> {
  admit(request: AdmitRequest): Promise<Admitted>;
  readonly isDegraded: boolean;
  /** Settlements that wait for the shared limiter. */
  readonly waiting: number;
  close(): Promise<void>;
}

const CREDIT_CAP = 10_000;
const COOLING_MS = 1_000;
const FAILURES = 3;
const AFRESH_MS = 60_000;
/** Marks every decision taken without the shared limiter. */
export const DEGRADED = { 'x-sluice-degraded': 'limits' } as const;
const CIRCUIT = ['redis', 'limits'] as const;

const unavailable = (reason: string): GatewayError =>
  new GatewayError('store_unavailable', 'The limits cannot be checked. Try again shortly.', {
    retryAfterS: 1,
    headers: DEGRADED,
    cause: new Error(reason),
  });

export const guardLimiter = (options: GuardOptions): Guard => {
  const { limiter, away, clock = systemClock, log = silentLog, events = silentEvents } = options;
  const breakers = new Breakers({ failures: FAILURES, coolingMs: COOLING_MS, clock });
  const allowances = new Allowances();
  const sharedScopes = createScopeShares(away?.replicasHint ?? 1);
  let isDegraded = false;
  let local: EmbeddedLimiter | null = null;
  let localUsedMs = 0;
  const funded = new Set<string>();

  const noteHealth = (on: boolean): void => {
    if (on === isDegraded) return;
    isDegraded = on;
    events.degraded(on);
    if (on) log.warn({ mode: away?.mode }, 'The limiter is away; limits are decided without it.');
    else log.info({ waiting: posting.size }, 'The limiter is back.');
  };

  /** An absence begins afresh, with what was known last; one that flickers goes on. */
  const openLocal = (): EmbeddedLimiter => {
    const nowMs = clock.ticksMs();
    if (!local || nowMs - localUsedMs > AFRESH_MS) {
      local = createEmbeddedLimiter(clock);
      funded.clear();
    }
    localUsedMs = nowMs;
    return local;
  };

  /** Calls the shared limiter unless it is known to be away; null = not called or failed. */
  const call = async <Reply>(send: () => Promise<Reply>): Promise<{ sent: boolean; reply: Reply | null }> => {
    const pass = breakers.enter(...CIRCUIT);
    if (!pass) return { sent: false, reply: null };
    try {
      const reply = await send();
      breakers.leave(...CIRCUIT, pass, 'alive');
      if (breakers.open === 0) noteHealth(false);
      return { sent: true, reply };
    } catch (error) {
      breakers.leave(...CIRCUIT, pass, 'failing');
      if (!isDegraded) log.warn({ err: error }, 'A call to the limiter failed.');
      noteHealth(true);
      return { sent: true, reply: null };
    }
  };

  const posting = new Posting({
    settle: async (request) => {
      const { reply } = await call(() => limiter.settle(request));
      if (!reply) throw new Error('The limiter is away.');
      return reply;
    },
    mayCall: () => breakers.waitMs(...CIRCUIT) === 0,
    ticksMs: () => clock.ticksMs(),
    events,
  });

  const noteSettled = ({ organizationId }: SettleRequest, reply: SettleReply): number | null => {
    events.settled(reply.outcome, reply.overdraft);
    if (reply.balance !== null) allowances.note(organizationId, reply.balance);
    return reply.balance;
  };

  /** The balance as far as it is known here, less what was used. */
  const estimate = ({ organizationId, credits }: SettleRequest): number | null => {
    const balance = allowances.balanceOf(organizationId);
    if (credits === null || balance === null) return null;
    allowances.note(organizationId, balance - credits);
    return balance - credits;
  };

  const settleShared = async (request: SettleRequest): Promise<number | null> => {
    const firstSentMs = clock.ticksMs();
    const { sent, reply } = await call(() => limiter.settle(request));
    if (reply) return noteSettled(request, reply);
    posting.add(request, { firstSentMs: sent ? firstSentMs : null });
    return estimate(request);
  };

  /** Asked without the shared limiter: a share of every limit, and of the credits as last known. */
  const admitLocally = async (request: AdmitRequest, share: NonNullable<typeof away>): Promise<Admitted> => {
    const mine = openLocal();
    const allowance = request.credits ? allowances.of(request) : null;
    if (request.credits && !allowance) throw unavailable('The balance is not known here.');
    const part = (credits: number): number => Math.max(0, Math.floor(credits / share.replicasHint));
    if (allowance && !funded.has(request.organizationId)) {
      funded.add(request.organizationId);
      const cap = share.creditCap ?? CREDIT_CAP;
      await mine.credits.setBalance(request.organizationId, Math.min(cap, part(allowance.available)));
    }
    const bounded = request.credits !== null && request.credits.keyBudget !== null;
    const keyBudget = bounded ? part(allowance?.keyAvailable ?? 0) : null;
    const startedMs = clock.ticksMs();
    const reply = await mine.admit({
      ...request,
      scopes: sharedScopes(request.scopes),
      credits: request.credits && { hold: request.credits.hold, keyBudget },
    });
    // Whether the credits are really short, nobody here can know.
    if (reply.outcome === 'short_of_credits') throw unavailable('The local allowance is spent.');
    return {
      reply,
      degraded: true,
      settle: async (spent) => {
        await mine.settle(spent);
        posting.add(spent, { startedMs });
        return estimate(spent);
      },
      renew: (leases) => mine.renew(leases),
    };
  };

  const admitWithout = async (request: AdmitRequest): Promise<Admitted> => {
    if (!away || away.mode === 'closed') throw unavailable('The limiter does not answer.');
    if (away.mode === 'local') return admitLocally(request, away);
    const startedMs = clock.ticksMs();
    const settle = async (spent: SettleRequest): Promise<number | null> => {
      posting.add(spent, { startedMs });
      return estimate(spent);
    };
    return { reply: null, degraded: true, settle, renew: null };
  };

  /** An admission that may have taken place, for a request that is not served: ended as if it had not been. */
  const disown = (request: AdmitRequest): void =>
    posting.add({ ...request, tokens: 0, credits: request.credits ? 0 : null });

  return {
    async admit(request) {
      const { sent, reply } = await call(() => limiter.admit(request));
      if (reply) {
        allowances.learn(request, reply);
        if (reply.pruned > 0) events.pruned(reply.pruned);
        if (reply.clockStepped) events.clockStepped();
        return { reply, degraded: false, settle: settleShared, renew: renewShared };
      }
      try {
        const admitted = await admitWithout(request);
        if (sent && admitted.reply?.outcome === 'refused') disown(request);
        return admitted;
      } catch (error) {
        if (sent) disown(request);
        throw error;
      }
    },
    async read(request) {
      const { reply } = await call(() => limiter.read(request));
      if (!reply) throw unavailable('The limiter does not answer.');
      return reply;
    },
    credits: limiter.credits,
    get isDegraded() {
      return isDegraded;
    },
    get waiting() {
      return posting.size;
    },
    async close() {
      await posting.close();
      await limiter.close();
    },
  };

  async function renewShared(leases: readonly Progress[]) {
    const { reply } = await call(() => limiter.renew(leases));
    if (reply && reply.pruned > 0) events.pruned(reply.pruned);
    return reply ?? { missing: 0, pruned: 0 };
  }
};
