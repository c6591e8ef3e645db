/**
 * What one scope counts: starts of the last minute and of the last day, each a queue of cells, one per slot that saw any:
 * (last start, requests, tokens). A cell leaves at last start + span, so no span ever holds more than was let in.
 * All of it is one row of numbers, so that a call touches little memory. The twin of the rings in ring.lua.
 */
export interface Ring {
  numbers: Float64Array;
}

/** Where a window's numbers begin. */
export type Window = typeof MINUTE | typeof DAY;

const SEEN = 0;
const LIVE = 1;
export const MINUTE = 2;
export const DAY = 9;

// Added to MINUTE or DAY. A cell is known by its sequence number: HEAD is the oldest, NEXT will be the next one; it stands
// at its number modulo the capacity, a power of two. OLDEST is not after the last start of the cell at HEAD.
const REQUESTS = 0;
const TOKENS = 1;
const HEAD = 2;
const NEXT = 3;
const OLDEST = 4;
const LAST = 5;
const CAPACITY = 6;

const CELLS = 16;
const WIDTH = 3;
const FIRST_CAPACITY = 2;

const spanOf = (window: Window): number => (window === MINUTE ? 60_000 : 86_400_000);
const slotOf = (window: Window): number => (window === MINUTE ? 1_000 : 1_800_000);

export const openRing = (): Ring => {
  const numbers = new Float64Array(CELLS + 2 * FIRST_CAPACITY * WIDTH);
  for (const window of [MINUTE, DAY]) {
    numbers[window + HEAD] = 1;
    numbers[window + NEXT] = 1;
    numbers[window + CAPACITY] = FIRST_CAPACITY;
  }
  return { numbers };
};

/** The latest time it was touched. */
export const seenMs = ({ numbers }: Ring): number => numbers[SEEN]!;
export const touch = ({ numbers }: Ring, nowMs: number): void => {
  numbers[SEEN] = nowMs;
};

/** Leases under way. */
export const live = ({ numbers }: Ring): number => numbers[LIVE]!;
export const changeLive = ({ numbers }: Ring, by: 1 | -1): void => {
  numbers[LIVE] = Math.max(0, numbers[LIVE]! + by);
};

export const requestsIn = ({ numbers }: Ring, window: Window): number => numbers[window + REQUESTS]!;
export const tokensIn = ({ numbers }: Ring, window: Window): number => numbers[window + TOKENS]!;
export const lastMs = ({ numbers }: Ring, window: Window): number => numbers[window + LAST]!;
/** The sequence number of the cell that was counted in last. */
export const newestCell = ({ numbers }: Ring, window: Window): number => numbers[window + NEXT]! - 1;
export const holdsCell = ({ numbers }: Ring, window: Window, sequence: number): boolean =>
  sequence >= numbers[window + HEAD]! && sequence < numbers[window + NEXT]!;

const place = (numbers: Float64Array, window: Window, sequence: number): number => {
  const from = window === MINUTE ? CELLS : CELLS + numbers[MINUTE + CAPACITY]! * WIDTH;
  return from + (sequence & (numbers[window + CAPACITY]! - 1)) * WIDTH;
};

/** Lets out what has left the window; false where that was nothing. */
export const evict = ({ numbers }: Ring, window: Window, nowMs: number): boolean => {
  const spanMs = spanOf(window);
  if (numbers[window + OLDEST]! + spanMs > nowMs) return false;
  const head = numbers[window + HEAD]!;
  const next = numbers[window + NEXT]!;
  let sequence = head;
  for (; sequence < next; sequence++) {
    const at = place(numbers, window, sequence);
    numbers[window + OLDEST] = numbers[at]!;
    if (numbers[at]! + spanMs > nowMs) break;
    numbers[window + REQUESTS]! -= numbers[at + 1]!;
    numbers[window + TOKENS]! -= numbers[at + 2]!;
  }
  numbers[window + HEAD] = sequence;
  return sequence > head;
};

/** Forgets everything: for a clock that fell back further than it is believed. */
export const clear = ({ numbers }: Ring, window: Window): void => {
  numbers[window + HEAD] = numbers[window + NEXT]!;
  numbers[window + REQUESTS] = 0;
  numbers[window + TOKENS] = 0;
};

/** Room for twice as many cells in one of the windows. */
const grow = (ring: Ring, window: Window): void => {
  const { numbers } = ring;
  const added = numbers[window + CAPACITY]! * WIDTH;
  const larger = new Float64Array(numbers.length + added);
  larger.set(numbers.subarray(0, CELLS));
  larger[window + CAPACITY]! *= 2;
  for (const each of [MINUTE, DAY] as const)
    for (let sequence = numbers[each + HEAD]!; sequence < numbers[each + NEXT]!; sequence++) {
      const from = place(numbers, each, sequence);
      larger.set(numbers.subarray(from, from + WIDTH), place(larger, each, sequence));
    }
  ring.numbers = larger;
};

export const count = (ring: Ring, window: Window, nowMs: number, requests: number, tokens: number): void => {
  let { numbers } = ring;
  const slotMs = slotOf(window);
  const isEmpty = numbers[window + HEAD] === numbers[window + NEXT];
  if (isEmpty || Math.floor(nowMs / slotMs) > Math.floor(numbers[window + LAST]! / slotMs)) {
    if (numbers[window + NEXT]! - numbers[window + HEAD]! === numbers[window + CAPACITY]) {
      grow(ring, window);
      ({ numbers } = ring);
    }
    if (isEmpty) numbers[window + OLDEST] = nowMs;
    const at = place(numbers, window, numbers[window + NEXT]!);
    numbers[at + 1] = 0;
    numbers[at + 2] = 0;
    numbers[window + NEXT]!++;
    numbers[window + LAST] = nowMs;
  }
  const at = place(numbers, window, numbers[window + NEXT]! - 1);
  numbers[window + LAST] = Math.max(numbers[window + LAST]!, nowMs);
  numbers[at] = numbers[window + LAST]!;
  numbers[at + 1]! += requests;
  numbers[at + 2]! += tokens;
  numbers[window + REQUESTS]! += requests;
  numbers[window + TOKENS]! += tokens;
};

/**
 * Counts what began earlier. Cells are never put between others, as leases know them by their numbers: where later ones
 * exist it joins the first of them, and so leaves late rather than early. False where it has left already.
 */
export const countPast = (
  ring: Ring,
  window: Window,
  startMs: number,
  nowMs: number,
  requests: number,
  tokens: number,
): boolean => {
  if (startMs + spanOf(window) <= nowMs) return false;
  const { numbers } = ring;
  let sequence = numbers[window + NEXT]! - 1;
  if (sequence < numbers[window + HEAD]! || startMs >= numbers[window + LAST]!) {
    count(ring, window, startMs, requests, tokens);
    return true;
  }
  while (sequence > numbers[window + HEAD]! && numbers[place(numbers, window, sequence - 1)]! >= startMs)
    sequence--;
  const at = place(numbers, window, sequence);
  numbers[at + 1]! += requests;
  numbers[at + 2]! += tokens;
  numbers[window + REQUESTS]! += requests;
  numbers[window + TOKENS]! += tokens;
  return true;
};

/** Takes tokens back out of the cell they were reserved in; false where it is no longer in the window. */
export const refund = (ring: Ring, window: Window, sequence: number, tokens: number): boolean => {
  if (!holdsCell(ring, window, sequence)) return false;
  const { numbers } = ring;
  const at = place(numbers, window, sequence) + 2;
  const back = Math.min(tokens, numbers[at]!);
  numbers[at]! -= back;
  numbers[window + TOKENS]! -= back;
  return true;
};

/** How long until `need` of what the window holds has left it; its whole span where it never does. */
const waitMs = ({ numbers }: Ring, window: Window, nowMs: number, need: number, offset: 1 | 2): number => {
  const next = numbers[window + NEXT]!;
  for (let sequence = numbers[window + HEAD]!; sequence < next; sequence++) {
    const at = place(numbers, window, sequence);
    need -= numbers[at + offset]!;
    if (need <= 0) return numbers[at]! + spanOf(window) - nowMs;
  }
  return spanOf(window);
};

/** Until one more request fits under the limit (-1 = none); 0 = it does. */
export const requestWaitMs = (ring: Ring, window: Window, limit: number, nowMs: number): number => {
  const over = requestsIn(ring, window) + 1 - limit;
  return limit < 0 || over <= 0 ? 0 : waitMs(ring, window, nowMs, over, 1);
};

/** The same of tokens; a request larger than the limit asks for no more than the limit. */
export const tokenWaitMs = (
  ring: Ring,
  window: Window,
  limit: number,
  tokens: number,
  nowMs: number,
): number => {
  if (limit < 0 || tokens === 0) return 0;
  const over = tokensIn(ring, window) + (limit > 0 ? Math.min(tokens, limit) : tokens) - limit;
  return over <= 0 ? 0 : waitMs(ring, window, nowMs, over, 2);
};
