import type { Usage } from '../core/usage.js';
import type { Json } from './dialect.js';
import type { Said } from './guard.js';

/** Beyond any model: whoever says more has not counted, and nobody is to be charged for it. */
const MOST_TOKENS = 100_000_000;

/** A token count as an upstream wrote it; 0 for anything that is none. */
export const tokensIn = (json: Json, key: string): number => {
  const value = json[key];
  return typeof value === 'number' && value > 0 && value <= MOST_TOKENS ? Math.trunc(value) : 0;
};

interface Counted {
  /** All input, cached tokens among it. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Usage where cached input is a part of the prompt. Some upstreams count it apart: then it exceeds the prompt. */
export const usageOfPrompt = ({ prompt, cacheRead, cacheWrite, output, reasoning }: Counted): Usage => {
  const cached = cacheRead + cacheWrite;
  return { input: cached > prompt ? prompt : prompt - cached, cacheRead, cacheWrite, output, reasoning };
};

const BYTES_PER_TOKEN = 4;

/** Tokens of text that nobody counted; one at least where something was said. */
export const tokensSaid = (said: readonly Said[]): number =>
  Math.ceil(said.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) / BYTES_PER_TOKEN);

/**
 * Usage with an estimate of what the upstream did not tell: all of its input, and an output of so many tokens at least.
 * No answer is made of nothing, so an input of 0 tells nothing.
 */
export const orEstimated = (usage: Usage, input: number, leastOutput: number): Usage => ({
  ...usage,
  input: usage.input + usage.cacheRead + usage.cacheWrite > 0 ? usage.input : input,
  output: Math.max(usage.output, leastOutput),
});
