export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
export const warn = (what: string, detail: string, hint: string): Finding => ({
  what,
  state: 'warn',
  detail,
  hint,
});
export const fail = (what: string, detail: string, hint: string): Finding => ({
  what,
  state: 'fail',
  detail,
  hint,
});

/** Why something went wrong, without what libraries like to add. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.cause !== undefined) return reasonOf(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};

export const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
