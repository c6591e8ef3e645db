import { parentPort } from 'node:worker_threads';
import { cutText } from './cut.js';

const load = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
};

export type Vocabulary = keyof typeof load;

export interface Job {
  readonly vocabulary: Vocabulary;
  readonly texts: readonly string[];
  /** From then on the rest is taken to be like what was counted. */
  readonly budgetMs: number;
}

export type Counted = { readonly tokens: number } | { readonly fault: string };

const port = parentPort!;

/** Text that looks like a control token is text. */
const asText = { disallowedSpecial: new Set<string>() };

const count = async ({ vocabulary, texts, budgetMs }: Job): Promise<number> => {
  const { countTokens, clearMergeCache } = await load[vocabulary]();
  const untilMs = performance.now() + budgetMs;
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  let tokens = 0;
  let counted = 0;
  try {
    for (const text of texts)
      for (const piece of cutText(text)) {
        if (performance.now() >= untilMs && counted > 0) return Math.ceil((tokens * units) / counted);
        tokens += countTokens(piece, asText);
        counted += piece.length;
      }
    return tokens;
  } finally {
    clearMergeCache(); // its keys would keep whole requests alive
  }
};

port.on('message', (job: Job) => {
  count(job).then(
    (tokens) => port.postMessage({ tokens } satisfies Counted),
    (error: unknown) => port.postMessage({ fault: String(error) } satisfies Counted),
  );
});
