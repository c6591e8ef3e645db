import { createHash } from 'node:crypto';
import type { Quota, Scope } from './limiter.js';

/** The order in which the scripts take the limits of a scope. */
const METRICS = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const;
const MOST = 2 ** 47; // six bytes, with room to add

export const QUOTA_KINDS = { daily: 1, weekly: 2, monthly: 3 } as const;

/** A whole number that the rings can hold. */
export const whole = (amount: number): number => Math.min(MOST, Math.max(0, Math.ceil(amount)));

/** A bound as the scripts take it. */
export const orNone = (amount: number | null | undefined): number =>
  amount === null || amount === undefined ? -1 : whole(amount);

const PLAIN_ID = /^[\w.:@/+=|~-]{1,128}$/;

/** Ids are part of key names and of records by lines: anything unusual goes by its digest. */
export const nameOf = (id: string): string =>
  PLAIN_ID.test(id) ? id : `~${createHash('sha256').update(id).digest('base64url')}`;

const tagOf = ({ kind, id }: Scope): string =>
  kind === 'organization' ? 'o' : `${kind === 'project' ? 'p' : 'k'}:${nameOf(id)}`;

export const subjectOf = ({ subject, id }: Quota): string =>
  `${subject === 'user' ? 'u' : 'p'}:${nameOf(id)}`;

const limitNumbers = ({ kind, limits }: Scope): readonly number[] =>
  METRICS.map((metric) => orNone(metric === 'tpd' && kind !== 'organization' ? null : limits[metric]));

/** Scopes in the words of the scripts. */
export interface Compiled {
  readonly tags: readonly string[];
  /** Tags below the organization. */
  readonly below: readonly string[];
  /** Five of each scope: rpm, rpd, tpm, tpd, concurrent; -1 = none. */
  readonly limits: readonly number[];
  /** Tags below the organization, as a record of a lease holds them. */
  readonly lines: string;
}

const compiled = new WeakMap<readonly Scope[], Compiled>();

/** Callers keep the scopes of a key as one array, so this is done once for it. */
export const compileScopes = (scopes: readonly Scope[]): Compiled => {
  let known = compiled.get(scopes);
  if (!known) {
    if (scopes[0]?.kind !== 'organization' || scopes.at(-1)?.kind !== 'key')
      throw new RangeError('The scopes begin with the organization and end with the key.');
    const tags = scopes.map(tagOf);
    const below = tags.slice(1);
    known = {
      tags,
      below,
      limits: scopes.flatMap(limitNumbers),
      lines: below.map((tag) => `\n${tag}`).join(''),
    };
    compiled.set(scopes, known);
  }
  return known;
};
