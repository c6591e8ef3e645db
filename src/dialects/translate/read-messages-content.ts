import { invalidRequest } from '../../core/errors.js';
import type { Fields, Reading, TypeReader } from './fields.js';
import type { DocumentPart, Media, Part, ResultContent, TextPart } from './neutral-request.js';
import { readContent, readText } from './read-content.js';
import { readSignature } from './signature.js';

const readMedia = (source: Fields): Media => {
  const type = source.text('type');
  switch (type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: source.text('media_type').toLowerCase(),
        data: source.text('data'),
      };
    case 'url':
      return { kind: 'url', url: source.text('url') };
    case 'file':
      return { kind: 'file', id: source.text('file_id') };
    default:
      throw invalidRequest(source.path('type'), 'must be base64, url or file');
  }
};

const readImage: TypeReader<ResultContent> = (fields, reading) => [
  {
    kind: 'image',
    at: fields.at,
    source: reading.object(fields.take('source'), fields.path('source'), readMedia),
    detail: null,
  },
];

const readDocument: TypeReader<ResultContent> = (fields, reading) => {
  const title = fields.maybeText('title')?.value ?? null;
  const context = fields.maybeText('context')?.value ?? null;
  const documentOf = (source: DocumentPart['source']): DocumentPart[] => [
    { kind: 'document', at: fields.at, source, title, context },
  ];
  return reading.object(fields.take('source'), fields.path('source'), (source) => {
    switch (source.peek('type')) {
      case 'text':
        source.take('media_type');
        return documentOf({ kind: 'text', text: source.text('data') });
      case 'content': {
        const inner = readResultContent(source.take('content'), source.path('content'), reading);
        const heading = [title, context].filter((piece) => piece !== null).join('\n\n');
        return heading === '' ? inner : [{ kind: 'text', at: fields.at, text: heading }, ...inner];
      }
      default:
        return documentOf(readMedia(source));
    }
  });
};

const readSearchResult: TypeReader<ResultContent> = (fields, reading) => {
  const text = reading
    .typed(fields.take('content'), fields.path('content'), { text: readText })
    .map((part) => part.text)
    .join('\n\n');
  return [
    {
      kind: 'document',
      at: fields.at,
      source: { kind: 'text', text },
      title: fields.maybeText('title')?.value ?? null,
      context: fields.maybeText('source')?.value ?? null,
    },
  ];
};

const resultReaders: Readonly<Record<string, TypeReader<ResultContent>>> = {
  text: readText,
  image: readImage,
  document: readDocument,
  search_result: readSearchResult,
};

const readResultContent = (content: unknown, at: string, reading: Reading): ResultContent[] =>
  readContent(content, at, reading, resultReaders);

const blockReaders: Readonly<Record<string, TypeReader<Part>>> = {
  ...resultReaders,
  thinking: (fields) => [
    {
      kind: 'reasoning',
      at: fields.path('thinking'),
      text: fields.text('thinking'),
      signature: readSignature(fields.maybeText('signature')?.value, 'messages'),
    },
  ],
  redacted_thinking: (fields) => [
    {
      kind: 'reasoning',
      at: fields.path('data'),
      text: '',
      signature: readSignature(fields.text('data'), 'messages'),
    },
  ],
  tool_use: (fields) => [
    {
      kind: 'tool_call',
      at: fields.at,
      id: fields.text('id'),
      name: fields.text('name'),
      input: { at: fields.path('input'), value: JSON.stringify(fields.take('input') ?? {}) },
    },
  ],
  tool_result: (fields, reading) => [
    {
      kind: 'tool_result',
      at: fields.at,
      id: fields.text('tool_use_id'),
      content: readResultContent(fields.take('content'), fields.path('content'), reading),
      isError: fields.maybeFlag('is_error')?.value ?? false,
    },
  ],
};

const isServerTool = (type: string): boolean =>
  type === 'server_tool_use' ||
  type === 'mcp_tool_use' ||
  type === 'container_upload' ||
  type.endsWith('_tool_result');

/** The content of a message: a string, or blocks. */
export const readMessagesContent = (content: unknown, at: string, reading: Reading): Part[] =>
  readContent(content, at, reading, blockReaders, isServerTool);

/** What one widespread client writes into its first system block for its vendor's accounts; it differs per request and spoils prefix caches. */
const BILLING_LINE = 'x-anthropic-billing-header';

export const readMessagesSystem = (system: unknown, reading: Reading): TextPart[] => {
  if (system === undefined) return [];
  const parts = readMessagesContent(system, 'system', reading);
  return parts.filter((part) => {
    if (part.kind !== 'text') {
      reading.leave(part.at, 'meaning');
      return false;
    }
    if (!part.text.startsWith(BILLING_LINE)) return true;
    reading.leave(BILLING_LINE, 'hint');
    return false;
  }) as TextPart[];
};
