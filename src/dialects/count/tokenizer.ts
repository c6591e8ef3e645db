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
