import type { Json } from '../dialect.js';
import { layOutInput } from './lay-out.js';
import { tokenFactor, type Tokenizer } from './tokenizer.js';

/** The input tokens of a Messages body for the model that will read it, rounded up. */
export const countInput = async (body: Json, model: string, tokenizer: Tokenizer): Promise<number> => {
  const { texts, extraTokens } = layOutInput(body);
  const counted = await tokenizer.count(texts);
  return Math.ceil(counted * (tokenizer.exact ? 1 : tokenFactor(model))) + extraTokens;
};
