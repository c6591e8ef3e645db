import { parseDuration } from '../../core/duration.js';

/** What the last user message asks of the simulator, as `[[name=value]]`. */
export interface Directives {
  /** Exact length of the answer; `say` wins. */
  readonly tokens: number | null;
  /** Answers with this error. */
  readonly status: number | null;
  /** Breaks the connection after so many events; 0 before any answer. */
  readonly cut: number | null;
  /** Waits after the first token. */
  readonly stallMs: number;
  /** Waits this long before the first byte instead of the configured time. */
  readonly ttftMs: number | null;
  /** Calls these tools. */
  readonly tools: readonly string[];
  /** Answers exactly this. */
  readonly say: string | null;
  /** Reasons like this before answering. */
  readonly think: string | null;
}

const MOST_TOKENS = 5_000_000;
const LONGEST_WAIT_MS = 3_600_000;

const readCount = (text: string, least: number, most: number): number | null => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : null;
};

const readWait = (text: string): number | null => {
  const waitMs = parseDuration(text);
  return waitMs === undefined ? null : Math.min(waitMs, LONGEST_WAIT_MS);
};

/** Walks the text once, whatever it holds. A value may itself end in `]`. */
function* findDirectives(text: string): Generator<readonly [name: string, value: string]> {
  for (let at = text.indexOf('[['); at >= 0; at = text.indexOf('[[', at)) {
    let end = text.indexOf(']]', at);
    if (end < 0) return;
    while (text[end + 2] === ']') end++;
    const body = text.slice(at + 2, end);
    const equals = body.indexOf('=');
    if (equals > 0) yield [body.slice(0, equals).trim(), body.slice(equals + 1)];
    at = end + 2;
  }
}

/** Unknown names and values that make no sense are ordinary text. */
export const readDirectives = (text: string): Directives => {
  const found = new Map<string, string>();
  const tools: string[] = [];
  for (const [name, value] of findDirectives(text)) {
    if (name === 'tool') tools.push(value.trim());
    else found.set(name, value);
  }
  const value = (name: string): string => found.get(name)?.trim() ?? '';
  return {
    tokens: readCount(value('tokens'), 1, MOST_TOKENS),
    status: readCount(value('status'), 400, 599),
    cut: readCount(value('cut'), 0, MOST_TOKENS),
    stallMs: readWait(value('stall')) ?? 0,
    ttftMs: readWait(value('ttft')),
    tools: tools.filter((tool) => tool !== ''),
    say: found.get('say') ?? null,
    think: found.get('think') ?? null,
  };
};
