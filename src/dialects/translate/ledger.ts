import { GatewayError } from '../../core/errors.js';
import type { NeutralRequest } from './neutral-request.js';

const NAMES_BOUND = 40;
const NAME_BOUND = 120;
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

/** `messages.3.content.0.cache_control` and its likes are one name; keys that fit no header are not repeated. */
const nameOf = (at: string): string =>
  at
    .split('.')
    .map((key) => (PLAIN_KEY.test(key) ? key : '*'))
    .join('.')
    .slice(0, NAME_BOUND);

export const unsupported = (at: string, why: string): GatewayError =>
  new GatewayError('unsupported_by_upstream', `${at}: ${why}`, { param: at });

/** What a request loses on its way, by name. Fit for a header: bounded, and none of the client's odd characters. */
export class Ledger {
  readonly #names = new Set<string>();

  drop(field: { readonly at: string } | null): void {
    if (field !== null) this.#names.add(nameOf(field.at));
  }

  dropped(): string[] {
    return [...this.#names].slice(0, NAMES_BOUND);
  }
}

/** Refuses what must not get lost, and notes what may. */
export const settleLeftovers = (
  { leftovers }: NeutralRequest,
  ledger: Ledger,
  dropServerTools: boolean,
): void => {
  for (const leftover of leftovers) {
    if (leftover.kind === 'meaning')
      throw unsupported(leftover.at, 'the upstream of this model has nothing like it');
    if (leftover.kind === 'server_tool' && !dropServerTools)
      throw unsupported(leftover.at, 'the upstream of this model does not run this tool');
    ledger.drop(leftover);
  }
};
