/**
 * Starts of the last minute or day as a queue of cells, one per slot that saw any: (last start, requests, tokens). A cell
 * leaves at last start + span, so no span ever holds more than was let in. Plain data: a snapshot is a copy of it.
 * The twin of the rings in ring.lua.
 */
export interface Window {
  readonly spanMs: number;
  readonly slotMs: number;
  requests: number;
  tokens: number;
  /** Sequence numbers of the oldest cell and of the next one; a cell stands at its number modulo the capacity. */
  head: number;
  next: number;
  lastMs: number;
  cells: Float64Array;
}

/** What one scope counts. */
export interface Ring {
  /** The latest time it was touched. */
  seenMs: number;
  readonly minute: Window;
  readonly day: Window;
}

const WIDTH = 3;
const FIRST_CAPACITY = 2;

const openWindow = (spanMs: number, slotMs: number): Window => ({
  spanMs,
  slotMs,
  requests: 0,
  tokens: 0,
  head: 1,
  next: 1,
  lastMs: 0,
  cells: new Float64Array(FIRST_CAPACITY * WIDTH),
});

export const openRing = (): Ring => ({
  seenMs: 0,
  minute: openWindow(60_000, 1_000),
  day: openWindow(86_400_000, 1_800_000),
});

const place = (window: Window, sequence: number): number =>
  (sequence % (window.cells.length / WIDTH)) * WIDTH;

/** Lets out what has left the window; false where that was nothing. */
export const evict = (window: Window, nowMs: number): boolean => {
  const { cells, spanMs, head } = window;
  while (window.head < window.next) {
    const at = place(window, window.head);
    if (cells[at]! + spanMs > nowMs) break;
    window.requests -= cells[at + 1]!;
    window.tokens -= cells[at + 2]!;
    window.head++;
  }
  return window.head > head;
};

/** Forgets everything: for a clock that fell back further than it is believed. */
export const clear = (window: Window): void => {
  window.head = window.next;
  window.requests = 0;
  window.tokens = 0;
};

const grow = (window: Window): void => {
  const old = { ...window };
  const most = window.spanMs / window.slotMs + 1;
  window.cells = new Float64Array(Math.min(most, (old.cells.length / WIDTH) * 2) * WIDTH);
  for (let sequence = window.head; sequence < window.next; sequence++) {
    const from = place(old, sequence);
    window.cells.set(old.cells.subarray(from, from + WIDTH), place(window, sequence));
  }
};

export const count = (window: Window, nowMs: number, requests: number, tokens: number): void => {
  const { slotMs } = window;
  if (window.head === window.next || Math.floor(nowMs / slotMs) > Math.floor(window.lastMs / slotMs)) {
    if ((window.next - window.head) * WIDTH === window.cells.length) grow(window);
    const at = place(window, window.next);
    window.cells.fill(0, at, at + WIDTH);
    window.next++;
    window.lastMs = nowMs;
  }
  const { cells } = window;
  const at = place(window, window.next - 1);
  window.lastMs = Math.max(window.lastMs, nowMs);
  cells[at] = window.lastMs;
  cells[at + 1]! += requests;
  cells[at + 2]! += tokens;
  window.requests += requests;
  window.tokens += tokens;
};

/** Takes tokens back out of the cell they were reserved in; false where it is no longer in the window. */
export const refund = (window: Window, sequence: number, tokens: number): boolean => {
  if (sequence < window.head || sequence >= window.next) return false;
  const at = place(window, sequence) + 2;
  const back = Math.min(tokens, window.cells[at]!);
  window.cells[at]! -= back;
  window.tokens -= back;
  return true;
};

/** How long until `need` of what the window holds has left it; its whole span where it never does. */
export const waitMs = (window: Window, nowMs: number, need: number, of: 'requests' | 'tokens'): number => {
  const offset = of === 'requests' ? 1 : 2;
  for (let sequence = window.head; sequence < window.next; sequence++) {
    const at = place(window, sequence);
    need -= window.cells[at + offset]!;
    if (need <= 0) return window.cells[at]! + window.spanMs - nowMs;
  }
  return window.spanMs;
};
