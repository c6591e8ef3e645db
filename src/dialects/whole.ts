import type { Usage } from '../core/usage.js';
import { answerTexts } from './answer-texts.js';
import type { CreditFields, DialectName, Json } from './dialect.js';
import { isObject, unreadable } from './event.js';
import { setMembers } from './json-text.js';
import { orEstimated, tokensSaid } from './tokens.js';

/** A whole answer as an object. Throws provider_error for anything else. */
export const readWhole = (answer: Buffer): Json => {
  let body: unknown;
  try {
    body = JSON.parse(answer.toString('utf8'));
  } catch {
    // The parser's own error quotes what it read.
    throw unreadable('The provider answered with something that is not JSON.');
  }
  if (!isObject(body)) throw unreadable('The provider answered with something that is not an object.');
  return body;
};

export const notThisFormat = (format: string): Error =>
  unreadable(`The provider answered with something that is no ${format} answer.`);

/** The usage of a whole answer: what its upstream tells, else what was asked and said. */
export const usageOfWhole = (format: DialectName, body: Json, told: Usage, estimatedInput: number): Usage =>
  orEstimated(told, estimatedInput, told.output > 0 ? 0 : tokensSaid(answerTexts[format](body)));

/** The credit fields at the top level, and the model's shown name where there is one. */
export const sealWhole = (answer: Buffer, fields: CreditFields, shownModel: string | null): Buffer =>
  setMembers(answer, shownModel === null ? { ...fields } : { model: shownModel, ...fields });
