import type { Json } from '../dialect.js';
import { unsupported } from './ledger.js';
import { dataUrl, documentText, fileName } from './media.js';
import type {
  DocumentPart,
  ImagePart,
  NeutralRequest,
  Part,
  TextPart,
  ToolResultPart,
  Turn,
} from './neutral-request.js';
import { safeIds } from './tool-ids.js';
import type { Writing } from './upstream-flags.js';
import { joinTexts, markError, refuseFileId } from './write-openai.js';

/** OpenAI's bound on the id of a call. */
const ID_LENGTH = 40;
const safeId = safeIds(ID_LENGTH);

const textPart = (text: string): Json => ({ type: 'text', text });

const DETAILS = ['low', 'high'];

const imagePart = (part: ImagePart, { ledger }: Writing): Json => {
  const { source, detail } = part;
  if (source.kind === 'file') return refuseFileId(part);
  const kept = detail !== null && DETAILS.includes(detail.value);
  if (!kept) ledger.drop(detail);
  return {
    type: 'image_url',
    image_url: {
      url: source.kind === 'url' ? source.url : dataUrl(source.mediaType, source.data),
      ...(kept && { detail: detail.value }),
    },
  };
};

const documentParts = (part: DocumentPart, { flags }: Writing): Json[] => {
  const { source, context } = part;
  if (source.kind === 'text') return [textPart(documentText(part, source.text))];
  if (!flags.takesDocuments) throw unsupported(part.at, 'the upstream of this model reads no documents');
  if (source.kind === 'file') return refuseFileId(part);
  if (source.kind === 'url')
    throw unsupported(part.at, 'the upstream of this model takes documents as data, not by address');
  return [
    ...(context === null ? [] : [textPart(context)]),
    {
      type: 'file',
      file: {
        filename: fileName(part, source.mediaType),
        file_data: dataUrl(source.mediaType, source.data),
      },
    },
  ];
};

const contentParts = (parts: readonly Part[], writing: Writing): Json[] =>
  parts.flatMap((part) => {
    switch (part.kind) {
      case 'text':
        return [textPart(part.text)];
      case 'image':
        return [imagePart(part, writing)];
      case 'document':
        return documentParts(part, writing);
      default:
        return [];
    }
  });

/** One text stays a string: every server reads that. */
const contentOf = (parts: readonly Json[]): unknown => {
  const [only, ...others] = parts;
  return only?.type === 'text' && others.length === 0 ? only.text : parts;
};

const isText = (part: Part): part is TextPart => part.kind === 'text';

const resultMessage = (result: ToolResultPart): Json => {
  const text = joinTexts(result.content.filter(isText));
  return {
    role: 'tool',
    tool_call_id: safeId(result.id),
    content: result.isError ? markError(text) : text,
  };
};

/** Tools answer in text alone: their images and documents follow as the user's, told apart by the call's id. */
const resultMedia = (result: ToolResultPart, writing: Writing): Json[] => {
  const media = contentParts(
    result.content.filter((part) => part.kind !== 'text'),
    writing,
  );
  return media.length === 0 ? [] : [textPart(`From the tool call ${safeId(result.id)}:`), ...media];
};

const userMessages = ({ parts }: Turn, writing: Writing): Json[] => {
  const results = parts.filter((part) => part.kind === 'tool_result');
  const content = [
    ...results.flatMap((result) => resultMedia(result, writing)),
    ...contentParts(parts, writing),
  ];
  return [
    ...results.map(resultMessage),
    ...(content.length > 0 ? [{ role: 'user', content: contentOf(content) }] : []),
  ];
};

const writeReasoningText = (parts: readonly Part[], { flags, ledger }: Writing): Json => {
  const reasoning = parts.filter((part) => part.kind === 'reasoning');
  const text = joinTexts(reasoning.filter((part) => part.text !== ''));
  if (flags.takesReasoningText && text !== '') return { reasoning_content: text };
  for (const part of reasoning) ledger.drop(part);
  return {};
};

const assistantMessages = ({ parts }: Turn, writing: Writing): Json[] => {
  const content = contentParts(parts, writing);
  const refusal = joinTexts(parts.filter((part) => part.kind === 'refusal'));
  const calls = parts.flatMap((part) =>
    part.kind === 'tool_call'
      ? [
          {
            id: safeId(part.id),
            type: 'function',
            function: { name: part.name, arguments: part.input.value },
          },
        ]
      : [],
  );
  const reasoning = writeReasoningText(parts, writing);
  if (content.length === 0 && refusal === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: content.length === 0 ? null : contentOf(content),
      ...reasoning,
      ...(refusal !== '' && { refusal }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
};

const turnMessages = (turn: Turn, writing: Writing): Json[] => {
  switch (turn.role) {
    case 'user':
      return userMessages(turn, writing);
    case 'assistant':
      return assistantMessages(turn, writing);
    case 'system':
      return [{ role: 'system', content: joinTexts(turn.parts) }];
  }
};

export const writeChatMessages = ({ system, turns }: NeutralRequest, writing: Writing): Json[] => [
  ...(system.length > 0 ? [{ role: 'system', content: joinTexts(system) }] : []),
  ...turns.flatMap((turn) => turnMessages(turn, writing)),
];
