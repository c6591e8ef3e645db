import type { QuotaWindow } from './limiter.js';

const DAY_MS = 86_400_000;

export interface Period {
  /** Differs from period to period of one kind. */
  readonly number: number;
  readonly endsMs: number;
}

/** The UTC day, week (from Monday) or month a moment lies in. */
export const periodAt = (window: QuotaWindow, nowMs: number): Period => {
  const day = Math.floor(nowMs / DAY_MS);
  if (window === 'daily') return { number: day, endsMs: (day + 1) * DAY_MS };
  if (window === 'weekly') {
    const week = Math.floor((day + 3) / 7); // 1970 began on a Thursday
    return { number: week, endsMs: ((week + 1) * 7 - 3) * DAY_MS };
  }
  const date = new Date(nowMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { number: year * 12 + month, endsMs: Date.UTC(year, month + 1) };
};
