import { invalidRequest } from '../../core/errors.js';
import type { DocumentPart, Media } from './neutral-request.js';

const isDataUrl = (url: string): boolean => /^data:/i.test(url);

/** A web address, or the data a data URL holds. */
export const readUrl = (url: string, at: string): Media => {
  if (!isDataUrl(url)) return { kind: 'url', url };
  const comma = url.indexOf(',');
  const [mediaType = '', ...flags] = url.slice('data:'.length, comma).toLowerCase().split(';');
  if (comma < 0 || mediaType === '') throw invalidRequest(at, 'must be a data URL that names its media type');
  const data = url.slice(comma + 1);
  if (flags.includes('base64')) return { kind: 'base64', mediaType, data };
  try {
    return { kind: 'base64', mediaType, data: Buffer.from(decodeURIComponent(data)).toString('base64') };
  } catch {
    throw invalidRequest(at, 'must be a well-formed data URL');
  }
};

export const dataUrl = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`;

const TYPES_BY_ENDING: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

const DEFAULT_DOCUMENT_TYPE = 'application/pdf';

/** The data of a file part: a data URL, or bare base64 whose type only the file's name tells. */
export const readFileData = (data: string, fileName: string | null, at: string): Media => {
  if (isDataUrl(data)) return readUrl(data, at);
  const ending = fileName?.split('.').at(-1)?.toLowerCase() ?? '';
  const mediaType = Object.hasOwn(TYPES_BY_ENDING, ending) ? TYPES_BY_ENDING[ending]! : DEFAULT_DOCUMENT_TYPE;
  return { kind: 'base64', mediaType, data };
};

const endingOf = (mediaType: string): string =>
  Object.keys(TYPES_BY_ENDING).find((ending) => TYPES_BY_ENDING[ending] === mediaType) ?? 'bin';

/** File parts need a name; some servers read the type from it. */
export const fileName = ({ title }: DocumentPart, mediaType: string): string =>
  title === null || title === '' ? `document.${endingOf(mediaType)}` : title;

/** A document of text alone is read as well inside the conversation. */
export const documentText = ({ title, context }: DocumentPart, text: string): string =>
  [title, context, text].filter((piece) => piece !== null && piece !== '').join('\n\n');
