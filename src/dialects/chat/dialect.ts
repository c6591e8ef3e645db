import { defaultFlags } from '../../core/upstream-flags.js';
import type { Dialect, ForwardOptions, InferenceRequest, Json } from '../dialect.js';
import { objectIn } from '../event.js';
import { guarded } from '../guarded-track.js';
import { RelayStage } from '../relay-stage.js';
import { notThisFormat, readWhole, sealWhole, usageOfWhole } from '../whole.js';
import { ChatEar } from './ear.js';
import { readChat } from './read.js';
import { ChatTrack } from './relay.js';
import { readChatUsage } from './usage.js';

/** A stream is always asked for its usage; what the client did not ask for is taken out again. */
const streamOptions = ({ stream, body }: InferenceRequest): object =>
  stream ? { stream_options: { ...objectIn(body, 'stream_options'), include_usage: true } } : {};

const BOUNDS = ['max_tokens', 'max_completion_tokens'] as const;

/** Where a bound is set on the caller, it replaces larger wishes under every name, and several answers are one. */
const tokenBound = ({ body }: InferenceRequest, { mostTokens: most, flags }: ForwardOptions): Json => {
  if (most === undefined) return {};
  const given = BOUNDS.filter((name) => typeof body[name] === 'number');
  const names = given.length > 0 ? given : [flags?.maxTokensField ?? defaultFlags.maxTokensField];
  return {
    ...Object.fromEntries(names.map((name) => [name, Math.min(Number(body[name] ?? most), most)])),
    ...(typeof body.n === 'number' && { n: 1 }),
  };
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
      ...tokenBound(request, options),
      ...streamOptions(request),
    }),
    headers: {},
  }),
  inspect(answer, estimatedInputTokens) {
    const body = readWhole(answer);
    if (!Array.isArray(body.choices)) throw notThisFormat('chat');
    const told = readChatUsage(objectIn(body, 'usage'));
    return { usage: usageOfWhole('chat', body, told, estimatedInputTokens) };
  },
  seal: sealWhole,
  relay: (request, hooks, estimatedInputTokens) => {
    const { shownModel, guard } = hooks;
    const includeUsage = objectIn(request.body, 'stream_options').include_usage === true;
    const ear = (): ChatEar => new ChatEar({ shownModel, includeUsage });
    const track = new ChatTrack(request, hooks, estimatedInputTokens);
    return new RelayStage(guarded(track, ear, guard), hooks);
  },
};
