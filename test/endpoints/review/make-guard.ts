import type { Guard } from '../../../src/dialects/guard.js';
import { createAnswerGuard } from '../../../src/endpoints/review/answer-guard.js';
import type { StreamMode } from '../../../src/endpoints/review/channel-watch.js';
import { Collected } from '../../../src/endpoints/review/collected.js';
import { refusalText } from '../../../src/endpoints/review/words.js';
import type { Engine, Follower } from '../../../src/rules/moderation/engine.js';
import { compilePublished } from '../../../src/rules/policies/published.js';
import { compileConfig } from '../../../src/rules/policy-gateway/compile.js';
import { readConfig } from '../../../src/rules/policy-gateway/config.js';
import { decide } from '../../../src/rules/policy-gateway/decide.js';
import { standings } from '../../../src/rules/policy-gateway/rollout.js';
import { createRedactor } from '../../../src/text/redact.js';

/** Finds nothing: what terms, data and expressions hold back must not hang on the classifier. */
const quietEngine: Engine = {
  judge: () => Promise.resolve(new Map()),
  judgeNow: () => new Map(),
  reads: () => true,
  follow: (): Follower => {
    let judged = 0;
    return {
      write: (text) => {
        judged += text.length;
        return false;
      },
      end: () => undefined,
      get judged() {
        return judged;
      },
      scores: new Map(),
      suspicion: () => 0,
    };
  },
};

export const DENIED = ['forbidden fruit', 'zorkmid', 'x-ray', 'naïve'];
const RULE = 'cel: direction == "response" && text.matches("(?i)code\\\\s+word\\\\s+[a-z]{3,8}")';

export const published = compilePublished([
  {
    id: 'pol_1',
    name: 'code words',
    version: 1,
    rule: RULE,
    direction: 'response',
    mode: 'enforcing',
    scope: 'organization',
    projectIds: [],
    thresholdBasisPoints: 5_000,
    createdAt: 1,
  },
]);
const unruled = compilePublished([]);

export const makeGuard = async (
  mode: StreamMode,
  rules: object,
  options: {
    readonly policies?: typeof published;
    readonly holdChars?: number;
    readonly asked?: string[];
  } = {},
): Promise<Guard> => {
  const config = readConfig({ rules });
  const scene = {
    compiled: await compileConfig(config),
    policies: options.policies ?? unruled,
    standing: standings.enforced,
    subject: { projectId: 'proj_1', model: 'm', endpoint: '/v1/messages', user: null },
    flagged: [],
  };
  const collected = new Collected('response', []);
  return createAnswerGuard({
    scene,
    engine: quietEngine,
    threshold: () => 0.5,
    mode,
    holdChars: options.holdChars ?? 60,
    context: '',
    redactor: config.rules.redact ? createRedactor() : null,
    collected,
    asksOthers: options.asked !== undefined,
    ask:
      options.asked === undefined
        ? null
        : (text) => {
            options.asked?.push(text);
            return Promise.resolve({ categories: [], scores: new Map(), policies: [] });
          },
    decide: () => decide(config, collected.findings, scene.standing),
    stopFor: (judgement) => ({
      notice: refusalText(judgement, { config, supportText: '' }),
      text: null,
      instruction: null,
    }),
    overheard: null,
  });
};
