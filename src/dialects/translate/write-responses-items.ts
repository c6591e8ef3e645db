import type { Json } from '../dialect.js';
import { dataUrl, documentText, fileName } from './media.js';
import type {
  DocumentPart,
  ImagePart,
  NeutralRequest,
  Part,
  ReasoningPart,
  ToolResultPart,
  Turn,
} from './neutral-request.js';
import { safeIds } from './tool-ids.js';
import type { Writing } from './upstream-flags.js';
import { joinTexts, markError, refuseFileId } from './write-openai.js';

/** OpenAI's bound on the id of a call. */
const ID_LENGTH = 64;
const safeId = safeIds(ID_LENGTH);

const inputText = (text: string): Json => ({ type: 'input_text', text });

const inputImage = (part: ImagePart): Json => {
  const { source, detail } = part;
  if (source.kind === 'file') return refuseFileId(part);
  return {
    type: 'input_image',
    image_url: source.kind === 'url' ? source.url : dataUrl(source.mediaType, source.data),
    detail: detail?.value ?? 'auto',
  };
};

const inputFile = (part: DocumentPart): Json => {
  const { source, title } = part;
  switch (source.kind) {
    case 'text':
      return inputText(documentText(part, source.text));
    case 'url':
      return { type: 'input_file', file_url: source.url, ...(title !== null && { filename: title }) };
    case 'base64':
      return {
        type: 'input_file',
        filename: fileName(part, source.mediaType),
        file_data: dataUrl(source.mediaType, source.data),
      };
    case 'file':
      return refuseFileId(part);
  }
};

const inputParts = (parts: readonly Part[]): Json[] =>
  parts.flatMap((part) => {
    switch (part.kind) {
      case 'text':
        return [inputText(part.text)];
      case 'image':
        return [inputImage(part)];
      case 'document':
        return part.source.kind === 'text' || part.context === null
          ? [inputFile(part)]
          : [inputText(part.context), inputFile(part)];
      default:
        return [];
    }
  });

const resultItem = ({ id, content, isError }: ToolResultPart): Json => {
  const plain = content.every((part) => part.kind === 'text');
  const text = joinTexts(content.filter((part) => part.kind === 'text'));
  const parts = inputParts(content);
  return {
    type: 'function_call_output',
    call_id: safeId(id),
    output: plain
      ? isError
        ? markError(text)
        : text
      : isError
        ? [inputText(markError('')), ...parts]
        : parts,
  };
};

const userItems = ({ parts }: Turn): Json[] => {
  const content = inputParts(parts);
  return [
    ...parts.filter((part) => part.kind === 'tool_result').map(resultItem),
    ...(content.length > 0 ? [{ type: 'message', role: 'user', content }] : []),
  ];
};

const reasoningItems = (part: ReasoningPart, { ledger }: Writing): Json[] => {
  if (part.signature?.issuer !== 'responses') {
    ledger.drop(part);
    return [];
  }
  return [
    {
      type: 'reasoning',
      summary: part.text === '' ? [] : [{ type: 'summary_text', text: part.text }],
      encrypted_content: part.signature.value,
    },
  ];
};

const said = (content: Json): Json => ({ type: 'message', role: 'assistant', content: [content] });

const assistantItems = ({ parts }: Turn, writing: Writing): Json[] =>
  parts.flatMap((part) => {
    switch (part.kind) {
      case 'text':
        return [said({ type: 'output_text', text: part.text, annotations: [] })];
      case 'refusal':
        return [said({ type: 'refusal', refusal: part.text })];
      case 'tool_call':
        return [
          {
            type: 'function_call',
            call_id: safeId(part.id),
            name: part.name,
            arguments: part.input.value,
          },
        ];
      case 'reasoning':
        return reasoningItems(part, writing);
      default:
        return [];
    }
  });

/** The conversation as items, in its order. */
export const writeItems = ({ turns }: NeutralRequest, writing: Writing): Json[] =>
  turns.flatMap((turn) => {
    switch (turn.role) {
      case 'user':
        return userItems(turn);
      case 'assistant':
        return assistantItems(turn, writing);
      case 'system':
        return [{ type: 'message', role: 'developer', content: inputParts(turn.parts) }];
    }
  });
