import { deserialize, serialize } from 'node:v8';
import { systemClock, type Clock } from '../../core/clock.js';
import { silentLog, type Log } from '../../core/log.js';
import { openAccount, openPurse, type Account, type Purse } from './account.js';
import { admitAt, renewAt, settleAt, type Place } from './embedded-admit.js';
import { forget } from './leases.js';
import type { AdmitReply, AdmitRequest, Credits, Limiter, Space } from './limiter.js';
import { openSnapshotFile, type SnapshotFile } from './snapshot-file.js';
import type { Ring } from './sliding-window.js';
import { readAdmitReply, readSettleReply } from './wire.js';

export interface EmbeddedLimiterOptions {
  /** Where its snapshot lies, so that days, months and credits survive a restart; null = nowhere. */
  readonly folder: string | null;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Most scopes remembered; above it those unused for longest are forgotten. */
  readonly maxScopes?: number;
}

export interface EmbeddedLimiter extends Limiter {
  snapshot(): Buffer;
  restore(bytes: Buffer): void;
  /** How many scopes are remembered. */
  readonly size: number;
}

interface State {
  readonly version: 1;
  readonly accounts: Record<Space, Map<string, Account>>;
  readonly purses: Map<string, Purse>;
}

const MOST_SCOPES = 100_000;
const SWEEP_MS = 60_000;
const DAY_MS = 86_400_000;
const IDLE_MS = DAY_MS + 3_600_000; // empty by then, also if the clock falls back a little
const ADDED_MS = 30 * DAY_MS;
const FORGOTTEN_SHARE = 0.1;

const emptyState = (): State => ({
  version: 1,
  accounts: { inference: new Map(), admin: new Map(), credits: new Map() },
  purses: new Map(),
});

/** The limiter of a gateway that stands alone: all in this process, kept in a file. */
export const openEmbeddedLimiter = async (options: EmbeddedLimiterOptions): Promise<EmbeddedLimiter> => {
  const { folder, clock = systemClock, log = silentLog } = options;
  const limiter = createEmbeddedLimiter(clock, options.maxScopes);
  if (folder === null) return limiter;
  const file: SnapshotFile = await openSnapshotFile(folder, () => limiter.snapshot(), log);
  if (file.bytes) limiter.restore(file.bytes);
  limiter.onChange = () => file.touch();
  limiter.onClose = () => file.close();
  return limiter;
};

/** In memory only. */
export const createEmbeddedLimiter = (clock: Clock, maxScopes = MOST_SCOPES) => {
  let state = emptyState();
  let size = 0;
  let sweptMs = 0;

  const placeOf = (space: Space, organizationId: string): Place => {
    const accounts = state.accounts[space];
    let account = accounts.get(organizationId);
    if (!account) accounts.set(organizationId, (account = openAccount()));
    return { account, purse: purseOf(organizationId) };
  };
  const purseOf = (organizationId: string): Purse => {
    let purse = state.purses.get(organizationId);
    if (!purse) state.purses.set(organizationId, (purse = openPurse()));
    return purse;
  };

  const everyAccount = function* (): Generator<readonly [Map<string, Account>, string, Account]> {
    for (const accounts of Object.values(state.accounts))
      for (const [id, account] of accounts) yield [accounts, id, account];
  };

  /** Forgets what a day has emptied, and beyond the bound what was unused for longest. */
  const sweep = (nowMs: number): void => {
    sweptMs = nowMs;
    const kept: { readonly rings: Map<string, Ring>; readonly tag: string; readonly seenMs: number }[] = [];
    for (const [accounts, id, { rings, book }] of everyAccount()) {
      forget(book, nowMs);
      for (const [tag, { seenMs }] of rings) {
        if (seenMs + IDLE_MS <= nowMs) rings.delete(tag);
        else kept.push({ rings, tag, seenMs });
      }
      if (rings.size + book.leases.size + book.settled.size + book.tombstones.size === 0) accounts.delete(id);
    }
    size = kept.length;
    if (size <= maxScopes) return;
    kept.sort((one, other) => one.seenMs - other.seenMs);
    const surplus = kept.slice(0, size - Math.floor(maxScopes * (1 - FORGOTTEN_SHARE)));
    for (const { rings, tag } of surplus) rings.delete(tag);
    size -= surplus.length;
  };

  const act = <Result>(place: Place, step: () => Result): Result => {
    const before = place.account.rings.size;
    const result = step();
    size += place.account.rings.size - before;
    const nowMs = clock.nowMs();
    if (size > maxScopes || Math.abs(nowMs - sweptMs) >= SWEEP_MS) sweep(nowMs);
    limiter.onChange();
    return result;
  };

  const ask = (request: AdmitRequest, mode: 'admit' | 'watch' | 'read'): AdmitReply => {
    const place = placeOf(request.space, request.organizationId);
    return readAdmitReply(
      act(place, () => admitAt(place, request, mode, clock.nowMs())),
      request,
    );
  };

  const credits: Credits = {
    balance: async (organizationId) => state.purses.get(organizationId)?.balance ?? null,
    fund: async (organizationId, funds) => {
      checkCredits(funds.granted);
      const purse = purseOf(organizationId);
      const { balance, funds: known } = purse;
      if (balance !== null && known && funds.revision <= known.revision) return balance;
      const isSame = balance !== null && known?.epoch === funds.epoch;
      purse.balance = isSame ? balance + funds.granted - known.granted : funds.granted;
      purse.funds = funds;
      limiter.onChange();
      return purse.balance;
    },
    addCredits: async (organizationId, amount, id) => {
      checkCredits(amount);
      const purse = purseOf(organizationId);
      const nowMs = clock.nowMs();
      if ((purse.added.get(id) ?? 0) > nowMs) return purse.balance ?? 0;
      for (const [known, deadlineMs] of purse.added) if (deadlineMs <= nowMs) purse.added.delete(known);
      purse.added.set(id, nowMs + ADDED_MS);
      purse.balance = (purse.balance ?? 0) + amount;
      limiter.onChange();
      return purse.balance;
    },
    setBalanceIfAbsent: async (organizationId, amount) => {
      checkCredits(amount);
      const purse = purseOf(organizationId);
      if (purse.balance !== null) return false;
      purse.balance = amount;
      limiter.onChange();
      return true;
    },
    setBalance: async (organizationId, amount) => {
      checkCredits(amount);
      purseOf(organizationId).balance = amount;
      limiter.onChange();
    },
  };

  const limiter = {
    onChange: (): void => {},
    onClose: async (): Promise<void> => {},
    admit: async (request: AdmitRequest) => ask(request, request.enforce ? 'admit' : 'watch'),
    read: async (request: Omit<AdmitRequest, 'leaseId'>) => ask({ ...request, leaseId: '-' }, 'read'),
    settle: async (request: Parameters<Limiter['settle']>[0]) => {
      const place = placeOf(request.space, request.organizationId);
      return readSettleReply(act(place, () => settleAt(place, request, clock.nowMs())));
    },
    renew: async (leases: Parameters<Limiter['renew']>[0]) => {
      const [first] = leases;
      if (!first) return { missing: 0, pruned: 0 };
      const place = placeOf(first.space, first.organizationId);
      return act(place, () => renewAt(place, leases, clock.nowMs()));
    },
    credits,
    get size() {
      return size;
    },
    snapshot: () => encodeState(state),
    restore: (bytes: Buffer) => {
      state = decodeState(bytes);
      sweep(clock.nowMs());
    },
    close: () => limiter.onClose(),
  };
  return limiter satisfies EmbeddedLimiter;
};

const checkCredits = (amount: number): void => {
  if (!Number.isSafeInteger(amount)) throw new RangeError('Credits are whole numbers.');
};

const encodeState = (state: State): Buffer => serialize(state);

const decodeState = (bytes: Buffer): State => {
  try {
    const state = deserialize(bytes) as Partial<State> | null;
    if (state?.version === 1) return state as State;
  } catch (error) {
    throw new Error('The snapshot of the limits cannot be read; balances may be lost with it.', {
      cause: error,
    });
  }
  throw new Error('The snapshot of the limits was written by another version.');
};
