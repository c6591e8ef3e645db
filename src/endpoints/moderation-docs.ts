import type { OperationDoc } from '../core/exchange.js';
import { jsonAnswer } from './administration/describe.js';
import { Moderation, NewModeration } from './moderations.js';

/** How the OpenAPI document tells of it. */
export const moderationDoc = {
  tag: 'Inference',
  summary: 'Moderate texts',
  description:
    "OpenAI's shape. The scores are the gateway's own engine's: 0.5 is the default threshold of every category; a category it does not know scores 0. Images are not read.",
  extension: true,
  body: NewModeration,
  answer: jsonAnswer(Moderation),
} as const satisfies OperationDoc;
