import type { Config } from './config/schema.js';
import { systemClock } from './core/clock.js';
import type { AskParts } from './endpoints/ask.js';
import { createModelAsker } from './endpoints/ask-model.js';
import { createReview, type OpenReview, type ReviewParts } from './endpoints/review/review.js';
import type { RoadParts } from './endpoints/roads.js';
import type { Metrics } from './io/metrics/metrics.js';
import { post } from './io/upstream/post.js';
import type { PolicingGround } from './policing.js';
import type { Engine } from './rules/moderation/engine.js';
import { markLanguage } from './rules/moderation/mark-language.js';
import { createLayeredEngine } from './rules/moderation/layered.js';
import { createHttpEngine } from './rules/moderation/remote.js';
import { askedThresholds } from './rules/moderation/thresholds.js';
import type { Judge } from './rules/policies/judge.js';
import { createLexicalJudge } from './rules/policies/lexical-judge.js';
import { createModelJudge } from './rules/policies/model-judge.js';

const KEPT_VERDICTS = 50_000;

const engineOf = ({ moderation }: Config, embedded: Engine, metrics: Metrics): Engine => {
  if (moderation.engine !== 'http') return markLanguage(embedded);
  const { http } = moderation;
  return createLayeredEngine({
    floor: embedded,
    remote: createHttpEngine({
      kind: http.kind,
      url: http.url,
      apiKey: http.api_key,
      timeoutMs: http.timeout,
      ...(http.model !== '' && { model: http.model }),
      request: post,
    }),
    onError: http.on_error,
    onUnavailable: () => metrics.policing.fault('moderation_service'),
  });
};

const judgeOf = ({ policies: { judge } }: Config, parts: AskParts & RoadParts): Judge => {
  if (judge.kind === 'lexical') return createLexicalJudge();
  const askModel = createModelAsker(parts);
  return createModelJudge({
    ask: (prompt, signal) => askModel(judge.model, prompt, signal),
    timeoutMs: judge.timeout,
    cacheEntries: KEPT_VERDICTS,
  });
};

/** The review of one configuration, and its parts for whoever only wants to know. */
export const createReviewing = (
  config: Config,
  ground: PolicingGround,
  metrics: Metrics,
  parts: AskParts & RoadParts,
): { readonly parts: ReviewParts; readonly open: OpenReview } => {
  const { moderation, policies } = config;
  const review: ReviewParts = {
    engine: engineOf(config, ground.embedded, metrics),
    threshold: askedThresholds(moderation),
    judge: judgeOf(config, parts),
    onJudgeError: policies.judge.kind === 'model' ? policies.judge.on_error : 'open',
    onUnavailable: () => metrics.policing.fault('judge'),
    configOf: (organizationId) => ground.configs.get(organizationId),
    policiesOf: (organizationId) => ground.policies.get(organizationId),
    spikes: ground.spikes,
    stream: moderation.stream,
    holdChars: moderation.hold_chars,
    show: policies.show_decisions,
    supportText: moderation.support_text,
    asksOthers: moderation.engine === 'http',
    judgesWhole: policies.judge.kind === 'model',
    capturesContent: config.audit.capture_content,
    ticksMs: () => systemClock.ticksMs(),
  };
  return { parts: review, open: createReview(review) };
};
