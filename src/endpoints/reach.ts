import type { Call } from '../core/exchange.js';
import type { Crossed } from '../dialects/bridge.js';
import type { InferenceRequest } from '../dialects/dialect.js';
import { answerHeaders } from '../io/upstream/headers.js';
import { ask, type Asked, type AskParts } from './ask.js';
import type { Road } from './roads.js';

/** What is known once an upstream answers. */
export interface Answered extends Asked<Road> {
  readonly call: Call;
  readonly request: InferenceRequest;
  readonly shownModel: string | null;
  readonly estimatedInputTokens: number;
  readonly headers: Readonly<Record<string, string>>;
}

export const BYTES_PER_TOKEN = 3;

const nothingSent: Crossed = { body: '', headers: {}, dropped: [] };

/** Sends a request down its roads until one of them leads to an answer. */
export const reach = async (
  call: Call,
  request: InferenceRequest,
  roads: readonly Road[],
  parts: AskParts,
): Promise<Answered> => {
  const lastOwn = roads.findLast(({ choice }) => !choice.isFallback);
  let sent: Crossed = nothingSent;
  const build = (road: Road) => {
    try {
      sent = road.bridge.forward(request, {
        upstreamModel: road.model,
        clientHeaders: call.headers,
        defaultMaxTokens: road.choice.maxOutputTokens,
        mostTokens: call.principal.maxOutputTokens,
        flags: road.choice.flags,
      });
    } catch (error) {
      // What one target or a fallback cannot express is no fault of the request: it is passed over.
      if (road === lastOwn && sent === nothingSent) throw error;
      return null;
    }
    return { path: road.path, headers: sent.headers, body: sent.body };
  };
  const asked = await ask(call, roads, build, parts);
  const { body, dropped } = sent;
  return {
    ...asked,
    call,
    request,
    shownModel: request.model === asked.target.model ? null : request.model,
    estimatedInputTokens: Math.ceil(body.length / BYTES_PER_TOKEN),
    headers: {
      ...answerHeaders(asked.answer.headers),
      ...(dropped.length > 0 && { 'x-sluice-dropped': dropped.join(', ') }),
    },
  };
};
