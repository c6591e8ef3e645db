import { GatewayError } from '../core/errors.js';
import { isObject, objectIn } from '../dialects/event.js';
import { chatDialect } from '../dialects/chat/dialect.js';
import { readWhole } from '../io/upstream/read-whole.js';
import { send } from '../io/upstream/send.js';
import type { AskParts } from './ask.js';
import { createRoadsTo, type Road, type RoadParts } from './roads.js';

export interface Prompt {
  readonly system: string;
  readonly user: string;
}

const ANSWER_BYTES = 1_048_576;
const MAX_TOKENS = 1_024;
const nothing = { remaining_credits: null, estimated_credits_used: 0, estimated_cost_usd: 0 };

/** Asks a configured model a question of the gateway's own; nobody pays for it but the operator. */
export const createModelAsker = (parts: AskParts & RoadParts) => {
  const roadsTo = createRoadsTo('chat', parts);

  return async (model: string, { system, user }: Prompt, signal: AbortSignal): Promise<string> => {
    const resolved = parts.catalog.resolve(model, '');
    if (!resolved) throw new GatewayError('model_not_found', `There is no model ${model}.`);
    const request = chatDialect.read({
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      max_tokens: MAX_TOKENS,
      temperature: 0,
    });
    const { target, answer } = await send({
      targets: roadsTo(resolved.choices),
      build: (road: Road) => ({
        path: road.path,
        ...road.bridge.forward(request, {
          upstreamModel: road.model,
          clientHeaders: {},
          defaultMaxTokens: MAX_TOKENS,
          flags: road.choice.flags,
        }),
      }),
      signal,
      breakers: parts.breakers,
      onAttempt: parts.attempted,
    });
    const bytes = await readWhole(answer.body, ANSWER_BYTES);
    const whole = await target.bridge.whole(bytes, request, {
      shownModel: null,
      estimatedInputTokens: 0,
      guard: null,
    });
    const body: unknown = JSON.parse(whole.seal(nothing).toString('utf8'));
    const choices = isObject(body) && Array.isArray(body.choices) ? (body.choices as unknown[]) : [];
    const [first] = choices;
    const { content } = isObject(first) ? objectIn(first, 'message') : {};
    return typeof content === 'string' ? content : '';
  };
};
