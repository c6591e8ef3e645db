import type { Json } from '../dialect.js';
import { isObject } from '../event.js';
import { unsupported } from './ledger.js';
import type {
  DocumentPart,
  ImagePart,
  NeutralRequest,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from './neutral-request.js';
import { safeIds } from './tool-ids.js';
import type { Writing } from './upstream-flags.js';
import { refuseFileId } from './write-openai.js';

const ID_LENGTH = 128;
const safeId = safeIds(ID_LENGTH);

/** The format refuses text blocks of nothing but space. */
const textBlocks = (text: string): Json[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const imageBlock = (part: ImagePart, { ledger }: Writing): Json => {
  const { source, detail } = part;
  ledger.drop(detail);
  if (source.kind === 'file') return refuseFileId(part);
  if (source.kind === 'url') return { type: 'image', source: { type: 'url', url: source.url } };
  const mediaType = source.mediaType === 'image/jpg' ? 'image/jpeg' : source.mediaType;
  if (!IMAGE_TYPES.includes(mediaType))
    throw unsupported(part.at, `the upstream of this model reads no ${mediaType}`);
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: source.data } };
};

const PDF = 'application/pdf';
const isTextType = (mediaType: string): boolean =>
  mediaType.startsWith('text/') || mediaType === 'application/json';

const plainText = (text: string): Json => ({ type: 'text', media_type: 'text/plain', data: text });

const documentSource = (part: DocumentPart): Json => {
  const { source } = part;
  switch (source.kind) {
    case 'text':
      return plainText(source.text);
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return refuseFileId(part);
    case 'base64':
      if (source.mediaType === PDF) return { type: 'base64', media_type: PDF, data: source.data };
      if (isTextType(source.mediaType)) return plainText(Buffer.from(source.data, 'base64').toString());
      throw unsupported(part.at, `the upstream of this model reads no ${source.mediaType}`);
  }
};

const documentBlock = (part: DocumentPart): Json => ({
  type: 'document',
  source: documentSource(part),
  ...(part.title !== null && { title: part.title }),
  ...(part.context !== null && { context: part.context }),
});

const toolUse = ({ id, name, input }: ToolCallPart): Json => {
  const refuse = () =>
    unsupported(input.at, 'must be the JSON text of an object for the upstream of this model');
  let parsed: unknown;
  try {
    parsed = JSON.parse(input.value);
  } catch {
    throw refuse();
  }
  if (!isObject(parsed)) throw refuse();
  return { type: 'tool_use', id: safeId(id), name, input: parsed };
};

const toolResult = ({ id, content, isError }: ToolResultPart, writing: Writing): Json => {
  const blocks = content.flatMap((part) => blocksOf(part, writing));
  const [only, ...others] = blocks;
  return {
    type: 'tool_result',
    tool_use_id: safeId(id),
    ...(only && { content: only.type === 'text' && others.length === 0 ? only.text : blocks }),
    ...(isError && { is_error: true }),
  };
};

const blocksOf = (part: Part, writing: Writing): Json[] => {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return textBlocks(part.text);
    case 'image':
      return [imageBlock(part, writing)];
    case 'document':
      return [documentBlock(part)];
    case 'tool_call':
      return [toolUse(part)];
    case 'tool_result':
      return [toolResult(part, writing)];
    case 'reasoning':
      if (part.signature?.issuer === 'messages')
        return [{ type: 'thinking', thinking: part.text, signature: part.signature.value }];
      writing.ledger.drop(part);
      return [];
  }
};

/** Turns of one role in a row are one: the results of parallel calls must stand together, before all else. */
const mergeTurns = (turns: readonly Turn[]): Turn[] => {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role)
      merged[merged.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else merged.push(turn);
  }
  return merged;
};

const resultsFirst = (parts: readonly Part[]): Part[] => [
  ...parts.filter((part) => part.kind === 'tool_result'),
  ...parts.filter((part) => part.kind !== 'tool_result'),
];

const writeMessage = (turn: Turn, writing: Writing): Json[] => {
  const parts = turn.role === 'user' ? resultsFirst(turn.parts) : turn.parts;
  const content = parts.flatMap((part) => blocksOf(part, writing));
  return content.length === 0 ? [] : [{ role: turn.role, content }];
};

/** An answer that is to be continued must not end in space. */
const trimEnding = (messages: Json[]): Json[] => {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || !Array.isArray(last.content)) return messages;
  const content = [...(last.content as Json[])];
  const ending = content.at(-1);
  if (typeof ending?.text === 'string')
    content[content.length - 1] = { ...ending, text: ending.text.trimEnd() };
  return [...messages.slice(0, -1), { ...last, content }];
};

export const writeMessages = ({ turns }: NeutralRequest, writing: Writing): Json[] => {
  const messages = mergeTurns(turns).flatMap((turn) => writeMessage(turn, writing));
  if (messages.length === 0)
    throw unsupported(
      writing.from === 'responses' ? 'input' : 'messages',
      'the upstream of this model needs something said by the user',
    );
  return trimEnding(messages);
};

export const writeSystem = ({ system }: NeutralRequest): Json => {
  const blocks = system.flatMap((part) => textBlocks(part.text));
  return blocks.length === 0 ? {} : { system: blocks };
};
