import { invalidRequest } from '../../core/errors.js';
import type { Fields, Reading, TypeReader } from './fields.js';
import { readFileData, readUrl } from './media.js';
import type { Part, ResultContent, ToolCallPart } from './neutral-request.js';
import { readContent, readText } from './read-content.js';
import { readDetail } from './read-openai.js';

const readImage: TypeReader<ResultContent> = (fields, reading) => {
  const at = fields.path('image_url');
  const image = fields.take('image_url');
  if (typeof image === 'string')
    return [{ kind: 'image', at: fields.at, source: readUrl(image, at), detail: null }];
  return reading.object(image, at, (inner) => [
    {
      kind: 'image',
      at: fields.at,
      source: readUrl(inner.text('url'), inner.path('url')),
      detail: readDetail(inner),
    },
  ]);
};

const readFile: TypeReader<ResultContent> = (fields, reading) =>
  reading.object(fields.take('file'), fields.path('file'), (file) => {
    const title = file.maybeText('filename')?.value ?? null;
    const id = file.maybeText('file_id');
    const source = id
      ? ({ kind: 'file', id: id.value } as const)
      : readFileData(file.text('file_data'), title, file.path('file_data'));
    return [{ kind: 'document', at: fields.at, source, title, context: null }];
  });

const resultReaders: Readonly<Record<string, TypeReader<ResultContent>>> = {
  text: readText,
  image_url: readImage,
  file: readFile,
};

const contentReaders: Readonly<Record<string, TypeReader<Part>>> = {
  ...resultReaders,
  refusal: (fields) => [{ kind: 'refusal', at: fields.path('refusal'), text: fields.text('refusal') }],
};

/** The content of a message: a string, parts, or nothing. */
export const readChatContent = (message: Fields, reading: Reading): Part[] =>
  readContent(message.take('content'), message.path('content'), reading, contentReaders);

/** What a tool gave. The format knows only text here, some servers take images too. */
export const readToolContent = (message: Fields, reading: Reading): ResultContent[] =>
  readContent(message.take('content'), message.path('content'), reading, resultReaders);

/** Some servers and clients write arguments as an object, or as an empty text where there are none. */
export const readArguments = (fields: Fields): ToolCallPart['input'] => {
  const value = fields.take('arguments');
  const at = fields.path('arguments');
  if (value === undefined || value === '') return { at, value: '{}' };
  if (typeof value === 'string') return { at, value };
  if (typeof value === 'object') return { at, value: JSON.stringify(value) };
  throw invalidRequest(at, 'must be a string of JSON');
};

const readToolCall: TypeReader<Part> = (fields, reading) =>
  reading.object(fields.take('function'), fields.path('function'), (inner) => [
    {
      kind: 'tool_call',
      at: fields.at,
      id: fields.text('id'),
      name: inner.text('name'),
      input: readArguments(inner),
    },
  ]);

/** Reasoning as open servers write it; they sign nothing. */
const readReasoning = (message: Fields): Part[] =>
  ['reasoning_content', 'reasoning'].flatMap((key): Part[] => {
    if (typeof message.peek(key) !== 'string') return [];
    const text = message.text(key);
    return text === '' ? [] : [{ kind: 'reasoning', at: message.path(key), text, signature: null }];
  });

export const readAssistant = (message: Fields, reading: Reading): Part[] => {
  const refusal = message.maybeText('refusal');
  return [
    ...readReasoning(message),
    ...readChatContent(message, reading),
    ...(refusal ? [{ kind: 'refusal', at: refusal.at, text: refusal.value } as const] : []),
    ...reading.typed(
      message.take('tool_calls') ?? [],
      message.path('tool_calls'),
      { '': readToolCall, function: readToolCall },
      () => true,
    ),
  ];
};
