import type { Dialect, InferenceRequest } from '../dialect.js';
import { objectIn } from '../event.js';
import { guarded } from '../guarded-track.js';
import { RelayStage } from '../relay-stage.js';
import { notThisFormat, readWhole, sealWhole } from '../whole.js';
import { ChatEar } from './ear.js';
import { readChat } from './read.js';
import { ChatTrack } from './relay.js';
import { readChatUsage } from './usage.js';

/** A stream is always asked for its usage; what the client did not ask for is taken out again. */
const streamOptions = ({ stream, body }: InferenceRequest): object =>
  stream ? { stream_options: { ...objectIn(body, 'stream_options'), include_usage: true } } : {};

/** Where a bound is set on the caller, it replaces a larger wish under whichever name that was given. */
const tokenBound = ({ maxOutputTokens, body }: InferenceRequest, most: number | undefined): object =>
  most === undefined
    ? {}
    : {
        ['max_tokens' in body ? 'max_tokens' : 'max_completion_tokens']: Math.min(
          maxOutputTokens ?? most,
          most,
        ),
      };

/** OpenAI's Chat Completions format. */
export const chatDialect: Dialect = {
  name: 'chat',
  upstreamPath: '/chat/completions',
  read: readChat,
  forward: (request, options) => ({
    body: JSON.stringify({
      ...request.body,
      model: options.upstreamModel,
      ...tokenBound(request, options.mostTokens),
      ...streamOptions(request),
    }),
    headers: {},
  }),
  inspect(answer) {
    const body = readWhole(answer);
    if (!Array.isArray(body.choices)) throw notThisFormat('chat');
    return { usage: readChatUsage(objectIn(body, 'usage')) };
  },
  seal: sealWhole,
  relay: (request, hooks, estimatedInputTokens) => {
    const { shownModel, guard } = hooks;
    const includeUsage = objectIn(request.body, 'stream_options').include_usage === true;
    const ear = (): ChatEar => new ChatEar({ shownModel, includeUsage });
    const track = guarded(new ChatTrack(request, hooks), ear, guard, estimatedInputTokens);
    return new RelayStage(track, hooks);
  },
};
