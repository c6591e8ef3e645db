import type { Committed, Records, Step } from './records.js';

/** Steps that join the commit of a change, made from its result: an idempotency record, an audit event. */
export type Also<T> = (result: T) => readonly Step[];

export interface ChangeOptions<T> {
  readonly also?: Also<T>;
}

export type Refusal = Extract<Committed, { ok: false }>;

/** A step of the caller's own `also` did not hold, so nothing was changed. `refusal.step` counts within `also`. */
export class AlsoRefused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`A joined step was refused: ${refusal.reason}.`);
    this.name = 'AlsoRefused';
    this.refusal = refusal;
  }
}

/** Commits own steps and the caller's together; gives the refusal of an own step, or null when all was done. */
export const commitWith = async (
  records: Records,
  partition: string,
  own: readonly Step[],
  also: readonly Step[],
): Promise<Refusal | null> => {
  const committed = await records.commit(partition, [...own, ...also]);
  if (committed.ok) return null;
  if (committed.step >= own.length)
    throw new AlsoRefused({ ...committed, step: committed.step - own.length });
  return committed;
};
