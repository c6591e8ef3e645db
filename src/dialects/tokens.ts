import type { Usage } from '../core/usage.js';
import type { Json } from './dialect.js';

/** A token count as an upstream wrote it; 0 for anything that is none. */
export const tokensIn = (json: Json, key: string): number => {
  const value = json[key];
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
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

/** For answers whose upstream did not tell their usage: a delta is a token at least. */
export const atLeast = (usage: Usage, output: number): Usage =>
  usage.output >= output ? usage : { ...usage, output };
