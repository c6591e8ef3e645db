import type { Dialect } from '../dialect.js';
import { objectIn } from '../event.js';
import { guarded } from '../guarded-track.js';
import { RelayStage } from '../relay-stage.js';
import { notThisFormat, readWhole, sealWhole } from '../whole.js';
import { ResponsesEar } from './ear.js';
import { readResponses } from './read.js';
import { ResponsesTrack } from './relay.js';
import { readResponsesUsage } from './usage.js';

/** OpenAI's Responses format (seed 4.11). */
export const responsesDialect: Dialect = {
  name: 'responses',
  upstreamPath: '/responses',
  read: readResponses,
  forward: ({ body, maxOutputTokens }, { upstreamModel, mostTokens }) => ({
    body: JSON.stringify({
      ...body,
      model: upstreamModel,
      ...(mostTokens !== undefined && {
        max_output_tokens: Math.min(maxOutputTokens ?? mostTokens, mostTokens),
      }),
    }),
    headers: {},
  }),
  inspect(answer) {
    const body = readWhole(answer);
    if (body.object !== 'response' || typeof body.status !== 'string') throw notThisFormat('responses');
    return { usage: readResponsesUsage(objectIn(body, 'usage')) };
  },
  seal: sealWhole,
  relay: (_request, hooks, estimatedInputTokens) =>
    new RelayStage(
      guarded(
        new ResponsesTrack(hooks),
        () => new ResponsesEar(hooks.shownModel),
        hooks.guard,
        estimatedInputTokens,
      ),
      hooks,
    ),
};
