import { invalidRequest } from '../../core/errors.js';
import type { Json } from '../dialect.js';
import { Reading, type Fields } from './fields.js';
import type {
  FunctionTool,
  MaybeField,
  NeutralRequest,
  OutputFormat,
  Reasoning,
  ToolChoice,
  Turn,
} from './neutral-request.js';
import { nothingAsked } from './nothing-asked.js';
import { readMessagesContent, readMessagesSystem } from './read-messages-content.js';
import { readStops } from './read-stops.js';

const readTurns = (fields: Fields, reading: Reading): Turn[] =>
  reading
    .objects(fields.take('messages'), 'messages', (message): Turn => {
      const role = message.text('role');
      return {
        role: role === 'assistant' || role === 'system' ? role : 'user',
        at: message.at,
        parts: readMessagesContent(message.take('content'), message.path('content'), reading),
      };
    })
    .filter((turn) => turn.parts.length > 0);

const readTools = (fields: Fields, reading: Reading): FunctionTool[] => {
  const readTool = (tool: Fields): FunctionTool[] => [
    {
      at: tool.at,
      name: tool.text('name'),
      description: tool.maybeText('description')?.value ?? null,
      schema: tool.maybeObject('input_schema')?.value ?? null,
      strict: tool.maybeFlag('strict')?.value ?? null,
    },
  ];
  return reading.typed(fields.take('tools') ?? [], 'tools', { '': readTool, custom: readTool }, () => true);
};

const MODES: Readonly<Record<string, ToolChoice['mode']>> = {
  auto: 'auto',
  any: 'any',
  none: 'none',
  tool: 'tool',
};

const readToolChoice = (
  fields: Fields,
  reading: Reading,
): Pick<NeutralRequest, 'toolChoice' | 'parallelTools'> => {
  const choice = fields.take('tool_choice');
  if (choice === undefined) return { toolChoice: null, parallelTools: null };
  return reading.object(choice, 'tool_choice', (inner) => {
    const type = inner.text('type');
    const mode = Object.hasOwn(MODES, type) ? MODES[type]! : null;
    if (mode === null) throw invalidRequest(inner.path('type'), 'must be auto, any, tool or none');
    const single = inner.maybeFlag('disable_parallel_tool_use');
    return {
      toolChoice: {
        at: inner.at,
        mode,
        name: mode === 'tool' ? inner.text('name') : null,
        allowed: null,
      },
      parallelTools: single && { at: single.at, value: !single.value },
    };
  });
};

type Thinking = Omit<Reasoning, 'effort'>;

const readThinking = (fields: Fields, reading: Reading): Thinking => {
  const thinking = fields.take('thinking');
  if (thinking === undefined) return { wanted: null, budgetTokens: null, summary: null };
  return reading.object(thinking, 'thinking', (inner) => {
    const type = inner.text('type');
    const display = inner.maybeText('display');
    // Reasoning between tool calls alone is a thing of this format; elsewhere it is plain reasoning.
    if (type === 'between_tools') reading.leave(inner.path('type'), 'hint');
    return {
      wanted: { at: 'thinking', value: type !== 'disabled' },
      budgetTokens: inner.maybeNumber('budget_tokens'),
      summary: display && { at: display.at, value: display.value === 'omitted' ? 'none' : 'auto' },
    };
  });
};

interface OutputConfig {
  readonly effort: MaybeField<string>;
  readonly output: OutputFormat | null;
}

const readFormat = (format: unknown, reading: Reading): OutputFormat | null => {
  if (format === undefined) return null;
  return reading.object(format, 'output_config.format', (inner) => {
    const type = inner.text('type');
    const schema = inner.maybeObject('schema');
    if (type !== 'json_schema' || schema === null)
      throw invalidRequest(inner.at, 'must be a json_schema with its schema');
    return {
      kind: 'json_schema',
      at: inner.at,
      name: null,
      description: null,
      schema: schema.value,
      strict: null,
    };
  });
};

const readOutputConfig = (fields: Fields, reading: Reading): OutputConfig => {
  const config = fields.take('output_config');
  if (config === undefined) return { effort: null, output: null };
  return reading.object(config, 'output_config', (inner) => ({
    effort: inner.maybeText('effort'),
    output: readFormat(inner.take('format'), reading),
  }));
};

const readUserId = (fields: Fields, reading: Reading): MaybeField<string> => {
  const metadata = fields.take('metadata');
  return metadata === undefined
    ? null
    : reading.object(metadata, 'metadata', (inner) => inner.maybeText('user_id'));
};

/** A Messages request in neutral words. */
export const readMessagesRequest = (body: Json): NeutralRequest => {
  const reading = new Reading('messages');
  return reading.object(body, '', (fields) => {
    const { effort, output } = readOutputConfig(fields, reading);
    fields.takeIf('speed', (speed) => speed === 'standard');
    return {
      ...nothingAsked,
      stream: fields.maybeFlag('stream')?.value ?? false,
      system: readMessagesSystem(fields.take('system'), reading),
      turns: readTurns(fields, reading),
      tools: readTools(fields, reading),
      ...readToolChoice(fields, reading),
      maxTokens: fields.maybeNumber('max_tokens'),
      sampling: {
        ...nothingAsked.sampling,
        temperature: fields.maybeNumber('temperature'),
        topP: fields.maybeNumber('top_p'),
        topK: fields.maybeNumber('top_k'),
      },
      stop: readStops(fields, 'stop_sequences'),
      reasoning: { ...readThinking(fields, reading), effort },
      output,
      userId: readUserId(fields, reading),
      serviceTier: fields.maybeText('service_tier'),
      leftovers: reading.leftovers,
    };
  });
};
