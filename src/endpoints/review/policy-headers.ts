import type { IncomingHttpHeaders } from 'node:http';

const BOUND = 200;

const text = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, BOUND) : null;

/** What the application says about its request (D25); none of it goes on to the upstream. */
export interface PolicyHeaders {
  readonly user: string | null;
  readonly project: string | null;
  readonly target: string | null;
}

export const policyHeadersOf = (headers: IncomingHttpHeaders): PolicyHeaders => ({
  user: text(headers['x-policy-user']),
  project: text(headers['x-policy-project']),
  target: text(headers['x-policy-target']),
});
