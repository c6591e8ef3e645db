import type { Json } from '../dialect.js';
import { objectIn } from '../event.js';
import { imageSize, type Size } from './image-size.js';

/** Anthropic scales a picture down to this edge, and to what makes this many tokens. */
const LONGEST_EDGE = 1_568;
const MOST_IMAGE_TOKENS = 1_600;
const PIXELS_PER_TOKEN = 750;

const tokensOfSize = ({ width, height }: Size): number => {
  const scale = Math.min(1, LONGEST_EDGE / Math.max(width, height));
  return Math.min(MOST_IMAGE_TOKENS, Math.ceil((width * scale * height * scale) / PIXELS_PER_TOKEN));
};

/** What a picture costs by its size. One that is not here, or hides its size, is counted as a large one. */
export const imageTokens = (block: Json): number => {
  const { data } = objectIn(block, 'source');
  const size = typeof data === 'string' ? imageSize(data) : null;
  return size ? tokensOfSize(size) : MOST_IMAGE_TOKENS;
};

/** A page is read as its text and as a picture. */
const TOKENS_PER_PAGE = 3_000;
const BYTES_PER_PAGE = 100_000;
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;

/** As much of a document as is searched for pages; what lies behind is taken to be alike. */
const SEARCHED_CHARACTERS = 4 * 1024 * 1024;

/** The pages of a PDF; where they are packed away, by its size. */
const pagesOf = (base64: string): number => {
  const searched = base64.slice(0, SEARCHED_CHARACTERS);
  const found = Buffer.from(searched, 'base64').toString('latin1').match(PAGE)?.length ?? 0;
  if (found > 0) return Math.ceil((found * base64.length) / searched.length);
  return Math.max(1, Math.ceil((base64.length * 3) / 4 / BYTES_PER_PAGE));
};

/** What a document costs whose text is not in the request as such. */
export const documentTokens = (source: Json): number =>
  TOKENS_PER_PAGE * (typeof source.data === 'string' ? pagesOf(source.data) : 1);
