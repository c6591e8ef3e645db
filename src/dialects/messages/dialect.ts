import { noUsage } from '../../core/usage.js';
import type { Dialect } from '../dialect.js';
import { objectIn } from '../event.js';
import { guarded } from '../guarded-track.js';
import { RelayStage } from '../relay-stage.js';
import { notThisFormat, readWhole, sealWhole, usageOfWhole } from '../whole.js';
import { forwardMessages } from './forward.js';
import { MessagesEar } from './ear.js';
import { readMessages } from './read.js';
import { MessagesTrack } from './relay.js';
import { mergeMessagesUsage } from './usage.js';

/** Anthropic's Messages format (seed 4.10). */
export const messagesDialect: Dialect = {
  name: 'messages',
  upstreamPath: '/v1/messages',
  read: readMessages,
  forward: forwardMessages,
  inspect(answer, estimatedInputTokens) {
    const body = readWhole(answer);
    if (body.type !== 'message' || !Array.isArray(body.content)) throw notThisFormat('messages');
    const told = mergeMessagesUsage(noUsage, objectIn(body, 'usage'));
    return { usage: usageOfWhole('messages', body, told, estimatedInputTokens) };
  },
  seal: sealWhole,
  relay: (_request, hooks, estimatedInputTokens) =>
    new RelayStage(
      guarded(new MessagesTrack(hooks, estimatedInputTokens), () => new MessagesEar(), hooks.guard),
      hooks,
    ),
};
