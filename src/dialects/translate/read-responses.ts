import type { Json } from '../dialect.js';
import { Conversation } from './conversation.js';
import { Reading, type Fields } from './fields.js';
import type { MaybeField, NeutralRequest, OutputFormat, Reasoning } from './neutral-request.js';
import { nothingAsked } from './nothing-asked.js';
import { readChoice, readEffort, readFormat, readFunction, readShared } from './read-openai.js';
import { readItems } from './read-responses-items.js';

const readConversation = (fields: Fields, reading: Reading): Conversation => {
  const conversation = new Conversation();
  const instructions = fields.maybeText('instructions');
  if (instructions && instructions.value !== '')
    conversation.addSystem('instructions', [{ kind: 'text', at: instructions.at, text: instructions.value }]);
  readItems(fields.take('input'), reading, conversation);
  return conversation;
};

const readReasoning = (fields: Fields, reading: Reading): Reasoning => {
  const wish = fields.take('reasoning');
  if (wish === undefined) return nothingAsked.reasoning;
  return reading.object(wish, 'reasoning', (inner) => {
    const oldName = inner.maybeText('generate_summary');
    return {
      ...nothingAsked.reasoning,
      ...readEffort(inner.maybeText('effort')),
      summary: inner.maybeText('summary') ?? oldName,
    };
  });
};

interface TextConfig {
  readonly output: OutputFormat | null;
  readonly verbosity: MaybeField<string>;
}

const readText = (fields: Fields, reading: Reading): TextConfig => {
  const config = fields.take('text');
  if (config === undefined) return { output: null, verbosity: null };
  return reading.object(config, 'text', (inner) => ({
    output: readFormat(inner.take('format'), 'text.format', reading),
    verbosity: inner.maybeText('verbosity'),
  }));
};

/** Wishes for what is so anyway, and one hidden among hints that is more than a hint. */
const takeDefaults = (fields: Fields, reading: Reading): void => {
  fields.takeIf('background', (background) => background === false);
  fields.takeIf('truncation', (truncation) => truncation === 'disabled');
  fields.takeIf('top_logprobs', (count) => count === 0);
  const include = fields.peek('include');
  if (Array.isArray(include) && include.includes('message.output_text.logprobs'))
    reading.leave('include', 'meaning');
};

/** A Responses request in neutral words. */
export const readResponsesRequest = (body: Json): NeutralRequest => {
  const reading = new Reading('responses');
  return reading.object(body, '', (fields) => {
    takeDefaults(fields, reading);
    const { system, turns } = readConversation(fields, reading);
    return {
      ...nothingAsked,
      stream: fields.maybeFlag('stream')?.value ?? false,
      system,
      turns,
      tools: reading.typed(
        fields.take('tools') ?? [],
        'tools',
        { function: (tool) => [readFunction(tool, tool.at)] },
        () => true,
      ),
      toolChoice: readChoice(fields, reading, (inner) => inner.text('name')),
      maxTokens: fields.maybeNumber('max_output_tokens'),
      sampling: {
        ...nothingAsked.sampling,
        temperature: fields.maybeNumber('temperature'),
        topP: fields.maybeNumber('top_p'),
      },
      reasoning: readReasoning(fields, reading),
      ...readText(fields, reading),
      ...readShared(fields, reading),
      leftovers: reading.leftovers,
    };
  });
};
