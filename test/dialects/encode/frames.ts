import type { Json } from '../../../src/dialects/dialect.js';

export interface ReadFrame {
  readonly event: string | null;
  readonly raw: string;
  readonly data: Json;
}

/** Reads frames as the strictest client does: LF only, at most one name, one data line, a blank line after each. */
export const readFrames = (text: string): ReadFrame[] => {
  if (text === '') return [];
  if (text.includes('\r')) throw new Error('a frame holds a carriage return');
  if (!text.endsWith('\n\n')) throw new Error('the last frame has no blank line after it');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const match = /^(?:event: ([\w.]+)\n)?data: (.+)$/s.exec(frame);
      if (!match) throw new Error(`not a frame: ${frame}`);
      const raw = match[2]!;
      return {
        event: match[1] ?? null,
        raw,
        data: raw === '[DONE]' ? {} : (JSON.parse(raw) as Json),
      };
    });
};

/** What an answer said, however it was spelt. */
export interface Heard {
  text: string;
  reasoning: string;
  refusal: string;
  signatures: string[];
  calls: { id: string; name: string; input: string }[];
  finish: string | null;
  error: Json | null;
  usage: Json | null;
}

export const hearNothing = (): Heard => ({
  text: '',
  reasoning: '',
  refusal: '',
  signatures: [],
  calls: [],
  finish: null,
  error: null,
  usage: null,
});

export function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(`broken rule: ${rule}`);
}
