/** A JSON document with its place and its revision: 1 when created, one more with each change. */
export interface Stored {
  readonly id: string;
  readonly revision: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** What must hold for a step to apply: a revision, that nothing is there yet, or nothing at all. */
export type Expect = number | 'absent' | 'any';

/** One part of a commit. Collections are free names: `policies`, `policies/pol_1/versions`. */
export type Step =
  | {
      readonly op: 'put';
      readonly collection: string;
      readonly id: string;
      readonly value: Stored['value'];
      readonly expect: Expect;
      /** A record with a ttl is there for `get` alone: no list shows it, no `room` counts it. */
      readonly ttlMs?: number;
    }
  | { readonly op: 'delete'; readonly collection: string; readonly id: string; readonly expect: Expect }
  /** Holds while the collection has fewer than `max` members; stands before the put it guards. */
  | { readonly op: 'room'; readonly collection: string; readonly max: number }
  /**
   * Makes a secret's digest lead to a record, or stop leading to it; `exists` while it leads to another live record.
   * After a crash a pointer may stay behind, so its reader checks that the record is there and names the digest.
   */
  | { readonly op: 'point'; readonly digest: string; readonly to: Pointer }
  | { readonly op: 'unpoint'; readonly digest: string };

export interface Pointer {
  readonly partition: string;
  readonly collection: string;
  readonly id: string;
}

export type Committed =
  /** `revisions[i]` belongs to step i; 0 where a step has none. */
  | { readonly ok: true; readonly revisions: readonly number[] }
  | {
      readonly ok: false;
      readonly step: number;
      readonly reason: 'exists' | 'missing' | 'revision' | 'full';
      readonly current: Stored | null;
    };

export interface Page {
  readonly after?: string;
  readonly limit: number;
  readonly order?: 'asc' | 'desc';
}

/** A commit seen by this replica, its own included; null = the feed was interrupted, so anything may have changed. */
export type Change = { readonly partition: string; readonly collection: string; readonly id: string } | null;

/**
 * Documents in partitions (an organization each, and GLOBAL), collections and id order.
 * A commit touches one partition, applies all its steps or none, and is durable when it resolves.
 */
export interface Records {
  get(partition: string, collection: string, id: string): Promise<Stored | null>;
  /** In id order; `after` is a comparison, so it need not exist. */
  list(
    partition: string,
    collection: string,
    page: Page,
  ): Promise<{ readonly items: readonly Stored[]; readonly hasMore: boolean }>;
  commit(partition: string, steps: readonly Step[]): Promise<Committed>;
  /** Grows with every commit in the partition. */
  generation(partition: string): Promise<number>;
  find(digest: string): Promise<Pointer | null>;
  /** Takes a name for a while; false = taken already. Decides races between replicas. */
  claim(name: string, ttlMs: number): Promise<boolean>;
  /** Gives back what this opener claimed; another's claim stays. */
  unclaim(name: string): Promise<void>;
  /** Latest use per id, milliseconds; kept apart so that a use is no change of the record; goes with the record. */
  noteUses(partition: string, uses: ReadonlyMap<string, number>): Promise<void>;
  lastUses(partition: string, ids: readonly string[]): Promise<readonly (number | null)[]>;
  watch(listener: (change: Change) => void): () => void;
  /** Throws when the store cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The partition of what belongs to no organization, such as the organizations themselves. */
export const GLOBAL = '*';

/** Thrown by every method when the store cannot be reached or does not answer in time. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('The store does not answer.', { cause });
    this.name = 'StoreUnavailable';
  }
}
