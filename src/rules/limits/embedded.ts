import { deserialize, serialize } from 'node:v8';
import { systemClock, type Clock } from '../../core/clock.js';
import { silentLog, type Log } from '../../core/log.js';
import { openAccount, openPurse, type Account, type Purse } from './account.js';
import { admitAt, type Mode } from './embedded-admit.js';
import { renewAt, settleAt } from './embedded-settle.js';
import { forget } from './leases.js';
import type {
  AdmitReply,
  AdmitRequest,
  Bucket,
  Credits,
  Limiter,
  Progress,
  Scope,
  SettleRequest,
  Space,
} from './limiter.js';
import { readAdmitReply } from './replies.js';
import { takeSeat, type Seat } from './seat.js';
import { openSnapshotFile, type SnapshotFile } from './snapshot-file.js';
import { live, seenMs, type Ring } from './sliding-window.js';

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
  readonly version: 2;
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
  version: 2,
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
  let seats = new WeakMap<readonly Scope[], Seat>();
  let size = 0;
  let sweptMs = 0;

  /** Callers keep the scopes of a key as one array, so its seat is found once. */
  const seatOf = (bucket: Bucket): Seat => {
    const known = seats.get(bucket.scopes);
    if (known && known.space === bucket.space && known.organizationId === bucket.organizationId) return known;
    const accounts = state.accounts[bucket.space];
    let account = accounts.get(bucket.organizationId);
    if (!account) accounts.set(bucket.organizationId, (account = openAccount()));
    const seat = takeSeat(bucket, account, purseOf(bucket.organizationId));
    seats.set(bucket.scopes, seat);
    return seat;
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
    seats = new WeakMap();
    const idle: { readonly rings: Map<string, Ring>; readonly tag: string; readonly seenMs: number }[] = [];
    let busy = 0; // a request under way must be counted to its end
    for (const [accounts, id, { rings, book }] of everyAccount()) {
      forget(book, nowMs);
      for (const [tag, ring] of rings) {
        if (live(ring) > 0) busy++;
        else if (seenMs(ring) + IDLE_MS <= nowMs) rings.delete(tag);
        else idle.push({ rings, tag, seenMs: seenMs(ring) });
      }
      const { leases, settled, tombstones, answers } = book;
      if (rings.size + leases.size + settled.size + tombstones.size + answers.size === 0) accounts.delete(id);
    }
    size = busy + idle.length;
    if (size <= maxScopes) return;
    idle.sort((one, other) => one.seenMs - other.seenMs);
    const surplus = idle.slice(0, size - Math.floor(maxScopes * (1 - FORGOTTEN_SHARE)));
    for (const { rings, tag } of surplus) rings.delete(tag);
    size -= surplus.length;
  };

  /** After a call that may have opened rings, of which there were `before`. */
  const finish = ({ account }: Seat, before: number, nowMs: number): void => {
    size += account.rings.size - before;
    if (size > maxScopes || Math.abs(nowMs - sweptMs) >= SWEEP_MS) sweep(nowMs);
    limiter.onChange();
  };

  const ask = (request: AdmitRequest, mode: Mode): AdmitReply => {
    const nowMs = clock.nowMs();
    const seat = seatOf(request);
    const before = seat.account.rings.size;
    const sheet = admitAt(seat, request, mode, nowMs);
    finish(seat, before, nowMs);
    return readAdmitReply(sheet.numbers, request, sheet.length);
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
    settle: async (request: SettleRequest) => {
      const nowMs = clock.nowMs();
      const seat = seatOf(request);
      const before = seat.account.rings.size;
      const reply = settleAt(seat, request, nowMs);
      finish(seat, before, nowMs);
      return reply;
    },
    renew: async (leases: readonly Progress[]) => {
      const [first] = leases;
      if (!first) return { missing: 0, pruned: 0 };
      const nowMs = clock.nowMs();
      const seat = seatOf(first);
      const before = seat.account.rings.size;
      const reply = renewAt(seat, leases, nowMs);
      finish(seat, before, nowMs);
      return reply;
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
    if (state?.version === 2) return state as State;
  } catch (error) {
    throw new Error('The snapshot of the limits cannot be read; balances may be lost with it.', {
      cause: error,
    });
  }
  throw new Error('The snapshot of the limits was written by another version.');
};
