/** Counts the tokens of texts. May work elsewhere: the texts of a request are handed over at once. */
export interface Tokenizer {
  /** Whether the counts are those of the model itself. */
  readonly exact: boolean;
  count(texts: readonly string[]): number | Promise<number>;
}

const BYTES_PER_TOKEN = 4;

/** Where there is no tokenizer: four bytes a token holds for prose, code and CJK alike, within a third. */
export const byteEstimate: Tokenizer = {
  exact: false,
  count: (texts) =>
    texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN), 0),
};

/** GPT-4 before 4o and 4.1, and GPT-3.5, in OpenAI's and in Azure's spelling. */
const OLDER_GPT = /(?:^|[/:])gpt-(?:3\.?5|4(?![o.\d]))/;

/** The vocabulary that is a model's own, or comes nearest to it. */
export const vocabularyOf = (model: string): 'o200k_base' | 'cl100k_base' =>
  OLDER_GPT.test(model.toLowerCase()) ? 'cl100k_base' : 'o200k_base';

const OLDER_CLAUDE = 1.1;
const NEWER_CLAUDE = 1.43;
const NEWER_NAMES = /fable|mythos/;
const VERSION = /(?:^|[^\d])(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** How many tokens a model makes of what is one for OpenAI's tokenizer; Anthropic publishes none. */
export const tokenFactor = (model: string): number => {
  const name = model.toLowerCase();
  if (!name.includes('claude')) return 1;
  if (NEWER_NAMES.test(name)) return NEWER_CLAUDE;
  const [, major = '0', minor = '0'] = VERSION.exec(name) ?? [];
  const isNewer = Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 7);
  return isNewer ? NEWER_CLAUDE : OLDER_CLAUDE;
};
