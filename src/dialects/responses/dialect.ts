import type { Dialect } from '../dialect.js';
import { objectIn } from '../event.js';
import { guarded } from '../guarded-track.js';
import { RelayStage } from '../relay-stage.js';
import { notThisFormat, readWhole, sealWhole, usageOfWhole } from '../whole.js';
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
  inspect(answer, estimatedInputTokens) {
    const body = readWhole(answer);
    if (body.object !== 'response' || typeof body.status !== 'string') throw notThisFormat('responses');
    const told = readResponsesUsage(objectIn(body, 'usage'));
    // Across formats a response that failed is an error, which costs what its upstream tells: so it does here.
    const usage =
      body.status === 'failed' ? told : usageOfWhole('responses', body, told, estimatedInputTokens);
    return { usage };
  },
  seal: sealWhole,
  relay: (_request, hooks, estimatedInputTokens) =>
    new RelayStage(
      guarded(
        new ResponsesTrack(hooks, estimatedInputTokens),
        () => new ResponsesEar(hooks.shownModel),
        hooks.guard,
      ),
      hooks,
    ),
};
