import type { Clock } from '../../core/clock.js';
import { GatewayError, invalidParameter } from '../../core/errors.js';
import type { Refusal } from '../../io/records/join.js';
import type { Records, Stored } from '../../io/records/records.js';

/** What every function on organizations, projects, keys and credits works with. */
export interface Accounts {
  readonly records: Records;
  readonly pepper: Buffer;
  readonly clock: Clock;
  readonly limits: AccountLimits;
}

/** Most live objects of a kind (D14). */
export interface AccountLimits {
  readonly adminKeys: number;
  readonly projects: number;
  readonly projectKeys: number;
}

export const defaultAccountLimits: AccountLimits = { adminKeys: 100, projects: 1_000, projectKeys: 1_000 };

const PATIENCE = 50;

/** Reads, changes and writes back until nobody came between. */
export const changeRecord = async <T>(
  read: () => Promise<Stored | null>,
  change: (stored: Stored | null) => Promise<{ readonly refusal: Refusal | null; readonly result: T }>,
): Promise<T> => {
  for (let turn = 0; turn < PATIENCE; turn++) {
    const { refusal, result } = await change(await read());
    if (refusal === null) return result;
  }
  throw new GatewayError('revision_conflict', 'Too many others are changing this. Try again.');
};

export const nowSeconds = (clock: Clock): number => Math.floor(clock.nowMs() / 1_000);

export const resourceLimit = (what: string, max: number): GatewayError =>
  new GatewayError('resource_limit_exceeded', `The organization may hold at most ${max} ${what}.`);

export const alreadyExists = (id: string): GatewayError =>
  new GatewayError('already_exists', `${id} exists already.`, { param: 'id' });

const NAME_CHARACTERS = 200;

export const checkName = (name: string): void => {
  if (name.trim() === '' || name.length > NAME_CHARACTERS)
    throw invalidParameter('name', `must have 1 to ${NAME_CHARACTERS} characters.`);
};

export const checkId = (prefix: string, id: string): void => {
  if (!id.startsWith(`${prefix}_`) || !/^[a-z]+_[A-Za-z0-9_-]{1,180}$/.test(id))
    throw invalidParameter('id', `must begin with ${prefix}_ and have only letters, digits, _ and -.`);
};

/** Money and credits are whole numbers that a double holds exactly, or fractions of a dollar. */
export const checkAmount = (param: string, amount: number, { whole }: { readonly whole: boolean }): void => {
  if (!Number.isFinite(amount) || Math.abs(amount) > Number.MAX_SAFE_INTEGER)
    throw invalidParameter(param, 'must be a finite number.');
  if (whole && !Number.isInteger(amount)) throw invalidParameter(param, 'must be a whole number.');
};
