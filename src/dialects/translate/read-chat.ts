import { invalidRequest } from '../../core/errors.js';
import type { Json } from '../dialect.js';
import { isObject } from '../event.js';
import { Conversation } from './conversation.js';
import { Reading, type Fields } from './fields.js';
import type { FunctionTool, MaybeField, NeutralRequest, Sampling } from './neutral-request.js';
import { nothingAsked } from './nothing-asked.js';
import { readAssistant, readChatContent, readToolContent } from './read-chat-content.js';
import { readChoice, readEffort, readFormat, readFunction, readShared } from './read-openai.js';
import { readStops } from './read-stops.js';

const readMessage = (message: Fields, reading: Reading, conversation: Conversation): void => {
  const role = message.text('role');
  switch (role) {
    case 'system':
    case 'developer':
      conversation.addSystem(message.at, readChatContent(message, reading));
      return;
    case 'user':
      conversation.addUser(message.at, readChatContent(message, reading));
      return;
    case 'assistant':
      conversation.addAssistant(message.at, readAssistant(message, reading));
      return;
    case 'tool':
      conversation.addResult({
        kind: 'tool_result',
        at: message.at,
        id: message.text('tool_call_id'),
        content: readToolContent(message, reading),
        isError: false,
      });
      return;
    default:
      throw invalidRequest(message.path('role'), 'must be system, developer, user, assistant or tool');
  }
};

const readConversation = (fields: Fields, reading: Reading): Conversation => {
  const conversation = new Conversation();
  reading.objects(fields.take('messages'), 'messages', (message) =>
    readMessage(message, reading, conversation),
  );
  return conversation;
};

const readTools = (fields: Fields, reading: Reading): FunctionTool[] =>
  reading.typed(
    fields.take('tools') ?? [],
    'tools',
    {
      function: (tool) => [
        reading.object(tool.take('function'), tool.path('function'), (inner) => readFunction(inner, tool.at)),
      ],
    },
    () => true,
  );

const readNestedName = (inner: Fields, reading: Reading): string =>
  reading.object(inner.take('function'), inner.path('function'), (named) => named.text('name'));

const unlessZero = (field: MaybeField<number>): MaybeField<number> => (field?.value === 0 ? null : field);

const readSampling = (fields: Fields): Sampling => {
  const logitBias = fields.maybeObject('logit_bias');
  return {
    temperature: fields.maybeNumber('temperature'),
    topP: fields.maybeNumber('top_p'),
    topK: fields.maybeNumber('top_k'),
    seed: fields.maybeNumber('seed'),
    frequencyPenalty: unlessZero(fields.maybeNumber('frequency_penalty')),
    presencePenalty: unlessZero(fields.maybeNumber('presence_penalty')),
    logitBias: logitBias && Object.keys(logitBias.value).length > 0 ? logitBias : null,
  };
};

/** Wishes for what is so anyway. */
const takeDefaults = (fields: Fields, reading: Reading): void => {
  fields.takeIf('n', (n) => n === 1);
  fields.takeIf('logprobs', (logprobs) => logprobs === false);
  fields.takeIf('top_logprobs', (count) => count === 0);
  fields.takeIf('modalities', (kinds) => Array.isArray(kinds) && kinds.every((kind) => kind === 'text'));
  const streaming = fields.take('stream_options');
  // Whether usage is shown in the stream is settled where the answer is written.
  if (isObject(streaming))
    reading.object(streaming, 'stream_options', (inner) => inner.take('include_usage'));
};

/** A Chat Completions request in neutral words. */
export const readChatRequest = (body: Json): NeutralRequest => {
  const reading = new Reading('chat');
  return reading.object(body, '', (fields) => {
    takeDefaults(fields, reading);
    const { system, turns } = readConversation(fields, reading);
    const oldBound = fields.maybeNumber('max_tokens');
    return {
      ...nothingAsked,
      stream: fields.maybeFlag('stream')?.value ?? false,
      system,
      turns,
      tools: readTools(fields, reading),
      toolChoice: readChoice(fields, reading, readNestedName),
      maxTokens: fields.maybeNumber('max_completion_tokens') ?? oldBound,
      sampling: readSampling(fields),
      stop: readStops(fields, 'stop'),
      reasoning: { ...nothingAsked.reasoning, ...readEffort(fields.maybeText('reasoning_effort')) },
      output: readFormat(fields.take('response_format'), 'response_format', reading),
      verbosity: fields.maybeText('verbosity'),
      ...readShared(fields, reading),
      leftovers: reading.leftovers,
    };
  });
};
