import { invalidRequest } from '../../core/errors.js';
import { isObject } from '../event.js';
import type { Conversation } from './conversation.js';
import type { Fields, Reading, TypeReader } from './fields.js';
import { readFileData, readUrl } from './media.js';
import type { DocumentPart, Part, ReasoningPart, ResultContent } from './neutral-request.js';
import { readArguments } from './read-chat-content.js';
import { readContent, readText } from './read-content.js';
import { readDetail } from './read-openai.js';
import { readSignature } from './signature.js';

const readImage: TypeReader<ResultContent> = (fields) => {
  const id = fields.maybeText('file_id');
  return [
    {
      kind: 'image',
      at: fields.at,
      source: id
        ? { kind: 'file', id: id.value }
        : readUrl(fields.text('image_url'), fields.path('image_url')),
      detail: readDetail(fields),
    },
  ];
};

const readFileSource = (fields: Fields, title: string | null): DocumentPart['source'] => {
  const id = fields.maybeText('file_id');
  if (id) return { kind: 'file', id: id.value };
  const url = fields.maybeText('file_url');
  if (url) return { kind: 'url', url: url.value };
  return readFileData(fields.text('file_data'), title, fields.path('file_data'));
};

const readFile: TypeReader<ResultContent> = (fields) => {
  const title = fields.maybeText('filename')?.value ?? null;
  fields.takeIf('detail', (detail) => detail === 'auto');
  return [{ kind: 'document', at: fields.at, source: readFileSource(fields, title), title, context: null }];
};

const inputReaders: Readonly<Record<string, TypeReader<ResultContent>>> = {
  input_text: readText,
  output_text: readText,
  text: readText,
  input_image: readImage,
  input_file: readFile,
};

const contentReaders: Readonly<Record<string, TypeReader<Part>>> = {
  ...inputReaders,
  refusal: (fields) => [{ kind: 'refusal', at: fields.path('refusal'), text: fields.text('refusal') }],
};

const readMessage = (item: Fields, reading: Reading, conversation: Conversation): void => {
  const role = item.text('role');
  const parts = readContent(item.take('content'), item.path('content'), reading, contentReaders);
  if (role === 'user') conversation.addUser(item.at, parts);
  else if (role === 'assistant') conversation.continueAssistant(item.at, parts);
  else if (role === 'system' || role === 'developer') conversation.addSystem(item.at, parts);
  else throw invalidRequest(item.path('role'), 'must be user, assistant, system or developer');
};

const readReasoning = (item: Fields, reading: Reading): ReasoningPart => {
  const textsOf = (key: string): string =>
    reading
      .typed(item.take(key) ?? [], item.path(key), { summary_text: readText, reasoning_text: readText })
      .map((part) => part.text)
      .join('\n\n');
  const summary = textsOf('summary');
  const content = textsOf('content');
  if (content !== '' && summary !== '') reading.leave(item.path('summary'), 'hint');
  const proof = item.maybeText('encrypted_content');
  return {
    kind: 'reasoning',
    at: proof?.at ?? item.path('summary'),
    text: content === '' ? summary : content,
    signature: readSignature(proof?.value, 'responses'),
  };
};

type ItemReader = (item: Fields, reading: Reading, conversation: Conversation) => void;

const itemReaders: Readonly<Record<string, ItemReader>> = {
  message: readMessage,
  function_call: (item, _reading, conversation) =>
    conversation.continueAssistant(item.at, [
      {
        kind: 'tool_call',
        at: item.at,
        id: item.text('call_id'),
        name: item.text('name'),
        input: readArguments(item),
      },
    ]),
  function_call_output: (item, reading, conversation) =>
    conversation.addResult({
      kind: 'tool_result',
      at: item.at,
      id: item.text('call_id'),
      content: readContent(item.take('output'), item.path('output'), reading, inputReaders),
      isError: false,
    }),
  reasoning: (item, reading, conversation) =>
    conversation.continueAssistant(item.at, [readReasoning(item, reading)]),
};

/** Calls that only this format's own machinery makes, and what came of them. */
const isServerTool = (type: string): boolean => /_call(_output)?$|^mcp_|^tool_search_/.test(type);

/** The input of a request: a text, or items of which several make one turn. */
export const readItems = (input: unknown, reading: Reading, conversation: Conversation): void => {
  if (input === undefined || input === '') return;
  if (typeof input === 'string') {
    conversation.addUser('input', [{ kind: 'text', at: 'input', text: input }]);
    return;
  }
  if (!Array.isArray(input)) throw invalidRequest('input', 'must be a string or an array of items');
  for (const [index, item] of (input as unknown[]).entries()) {
    const at = `input.${index}`;
    const type = isObject(item) ? (item.type ?? 'message') : 'message';
    if (typeof type === 'string' && Object.hasOwn(itemReaders, type))
      reading.object(item, at, (fields) => itemReaders[type]!(fields, reading, conversation));
    else reading.leave(at, typeof type === 'string' && isServerTool(type) ? 'server_tool' : 'meaning');
  }
};
