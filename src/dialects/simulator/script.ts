import { createHash } from 'node:crypto';
import type { BlockKind, FinishReason, InferenceEvent } from '../../core/events.js';
import type { Usage } from '../../core/usage.js';
import type { Directives } from './directives.js';
import { seedRandom, type Random } from './random.js';
import { countInputTokens, type Prompt } from './read-request.js';
import { valueFor } from './schema-values.js';
import { splitTokens, talkAbout, talkFor } from './words.js';

interface Part {
  readonly kind: BlockKind;
  readonly tokens: Iterable<string>;
  readonly toolName?: string;
}

const LEAST_TOKENS = 40;
const LENGTH_SPREAD = 30;
const SHOWN_RESULT_CHARS = 80;

/** The same for every format and for both values of `stream`, so that their answers can be compared. */
const hashPrompt = (prompt: Prompt): Buffer => {
  const hash = createHash('sha256').update(prompt.model);
  for (const text of prompt.texts) hash.update('\0').update(text);
  return hash.digest();
};

const describeResults = (results: readonly string[]): string => {
  const shown = results[0]!.trim().slice(0, SHOWN_RESULT_CHARS);
  const count =
    results.length === 1 ? 'The tool answered' : `${results.length} tools answered, the first with`;
  return shown === '' ? 'The tool answered with nothing.' : `${count}: ${shown}.`;
};

function* talkOf(prompt: Prompt, directives: Directives, random: Random): Generator<string> {
  if (directives.tokens !== null) {
    yield* talkFor(random, directives.tokens);
    return;
  }
  if (prompt.toolResults.length > 0) {
    yield* splitTokens(`${describeResults(prompt.toolResults)}\n\n`);
  }
  yield* talkAbout(random, LEAST_TOKENS + random.below(LENGTH_SPREAD));
}

const textOf = (prompt: Prompt, directives: Directives, random: Random): Iterable<string> => {
  if (directives.say !== null) return splitTokens(directives.say);
  if (prompt.outputSchema) return splitTokens(JSON.stringify(valueFor(prompt.outputSchema, random)));
  return talkOf(prompt, directives, random);
};

const callsOf = (prompt: Prompt, directives: Directives): readonly string[] => {
  if (directives.tools.length > 0) return directives.tools;
  return prompt.forcedTool === null ? [] : [prompt.forcedTool];
};

const partsOf = (prompt: Prompt, directives: Directives, random: Random): Part[] => {
  const calls = callsOf(prompt, directives);
  const parts: Part[] = [];
  if (directives.think !== null) parts.push({ kind: 'reasoning', tokens: splitTokens(directives.think) });
  if (calls.length === 0 || directives.say !== null)
    parts.push({ kind: 'text', tokens: textOf(prompt, directives, random) });
  for (const toolName of calls) {
    const schema = prompt.tools.find((tool) => tool.name === toolName)?.schema;
    const input = schema === undefined ? {} : valueFor(schema, random);
    parts.push({ kind: 'tool', tokens: splitTokens(JSON.stringify(input)), toolName });
  }
  return parts;
};

/** Where the text holds a stop sequence it ends before it. */
const stopAt = (
  tokens: Iterable<string>,
  stops: readonly string[],
): { readonly tokens: Iterable<string>; readonly stop: string | null } => {
  if (stops.length === 0) return { tokens, stop: null };
  const text = [...tokens].join('');
  let found: { readonly at: number; readonly stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (found === null || at < found.at)) found = { at, stop };
  }
  return { tokens: splitTokens(found ? text.slice(0, found.at) : text), stop: found?.stop ?? null };
};

/**
 * The answer as neutral events, made while it is read: an answer of any length costs no memory here.
 * One delta is one token, and the usage says so.
 */
export function* playScript(
  prompt: Prompt,
  directives: Directives,
  newId: (prefix: string) => string,
): Generator<InferenceEvent> {
  const hash = hashPrompt(prompt);
  const random = seedRandom(hash.readUInt32BE(0));
  const started: Usage = {
    input: countInputTokens(prompt),
    cacheRead: 0,
    cacheWrite: 0,
    output: 0,
    reasoning: 0,
  };
  const limit = prompt.maxTokens ?? Infinity;
  let [output, reasoning, index] = [0, 0, 0];
  let reason: FinishReason = 'stop';
  let stopSequence: string | null = null;

  yield { type: 'start', id: `sim-${hash.toString('hex', 0, 8)}`, model: prompt.model, usage: started };
  for (const part of partsOf(prompt, directives, random)) {
    const { tokens, stop } =
      part.kind === 'text' ? stopAt(part.tokens, prompt.stopSequences) : { tokens: part.tokens, stop: null };
    const call = part.toolName === undefined ? {} : { toolId: newId('call'), toolName: part.toolName };
    yield { type: 'block_open', index, kind: part.kind, ...call };
    if (part.toolName !== undefined) reason = 'tool_calls';
    for (const text of tokens) {
      if (output === limit) {
        reason = 'length';
        break;
      }
      output++;
      if (part.kind === 'reasoning') reasoning++;
      yield { type: 'delta', index, text };
    }
    const signature = part.kind === 'reasoning' ? { signature: `sim-${hash.toString('hex', 0, 16)}` } : {};
    yield { type: 'block_close', index, ...signature };
    index++;
    if (reason === 'length') break;
    if (stop !== null) {
      reason = 'stop_sequence';
      stopSequence = stop;
      break;
    }
  }
  yield { type: 'usage', usage: { ...started, output, reasoning } };
  yield { type: 'finish', reason, stopSequence };
}
