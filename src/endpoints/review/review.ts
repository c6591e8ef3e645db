import { GatewayError } from '../../core/errors.js';
import type { Call } from '../../core/exchange.js';
import type { Judgement } from '../../core/review.js';
import type { DialectName, InferenceRequest } from '../../dialects/dialect.js';
import type { Guard, Stop } from '../../dialects/guard.js';
import { instruct } from '../../dialects/request-texts.js';
import type { PolicySet } from '../../rules/policies/policy-set.js';
import type { CompiledConfig } from '../../rules/policy-gateway/compile.js';
import { decide } from '../../rules/policy-gateway/decide.js';
import { policyHeaders, type ShowPolicy } from '../../rules/policy-gateway/headers.js';
import { joinJudgements } from '../../rules/policy-gateway/join.js';
import type { SpikeLedger } from '../../rules/policy-gateway/rollback.js';
import { standingOf } from '../../rules/policy-gateway/rollout.js';
import { createRedactor } from '../../text/redact.js';
import { createAnswerGuard, type Opinion } from './answer-guard.js';
import type { StreamMode } from './channel-watch.js';
import { Collected } from './collected.js';
import { BlockedMemory } from './blocked-memory.js';
import { Capture } from './capture.js';
import { createInspect, type InspectParts } from './inspect.js';
import { piecesOf } from './pieces.js';
import { policyHeadersOf } from './policy-headers.js';
import { reviewRequest } from './request-review.js';
import { looksForData, type Scene } from './scene.js';
import { instructionOf, refusalCode, refusalText, WITHHELD } from './words.js';

/** What a review needs of the house. */
export interface ReviewParts extends InspectParts {
  /** Now where they are at hand; a promise only for an organization that was not seen for a while. */
  readonly configOf: (organizationId: string) => CompiledConfig | Promise<CompiledConfig>;
  readonly policiesOf: (organizationId: string) => PolicySet | Promise<PolicySet>;
  readonly spikes: SpikeLedger;
  readonly stream: StreamMode;
  readonly holdChars: number;
  readonly show: ShowPolicy;
  readonly supportText: string;
  /** A moderation service or a judging model is outside: answers are shown to it window by window. */
  readonly asksOthers: boolean;
  /** Enforcing prose is judged by a model, which must see the whole answer (D29). */
  readonly judgesWhole: boolean;
  /** Whether what was said is kept for the exchange's event. */
  readonly capturesContent: boolean;
  readonly ticksMs: () => number;
}

/** One exchange under review. */
export interface Review {
  /** As it may be forwarded. */
  readonly request: InferenceRequest;
  /** What is known by now: of a stream when its head goes out, of a whole answer at its end. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether an answer that does not pass may be asked for once more. */
  readonly mayAsk: boolean;
  /** A new one for each answer; `last` = there is no further try. */
  guard(last: boolean, whole: boolean): Guard;
  /** The request once more, with what the model is to keep to. */
  again(instruction: string): InferenceRequest;
}

export type OpenReview = (call: Call, dialect: DialectName, request: InferenceRequest) => Promise<Review>;

export const createReview = (parts: ReviewParts): OpenReview => {
  const inspect = createInspect(parts);
  const blocked = new BlockedMemory(parts.ticksMs);

  return async (call, dialect, request) => {
    const { principal, meter, headers, signal } = call;
    const { organization, projectId, keyId } = principal;
    const [compiled, policies] = [
      await parts.configOf(organization.id),
      await parts.policiesOf(organization.id),
    ];
    const { config } = compiled;
    const { user, target } = policyHeadersOf(headers);
    const rolledBack = parts.spikes.isRolledBack(organization.id, config.policy_id);
    const asking = { subject: user ?? keyId, target, projectId, model: request.model };
    const scene: Scene = {
      compiled,
      policies,
      standing: standingOf(config, asking, rolledBack),
      subject: { projectId, model: request.model, endpoint: call.route.path, user },
      flagged: request.flaggedCategories,
    };
    const voice = { config, supportText: parts.supportText };

    const known = blocked.find(keyId, scene, call.body);
    const redactor = createRedactor();
    const reviewed = known ? null : await reviewRequest(dialect, request, scene, redactor, inspect, signal);
    const judgement = known ?? reviewed!.judgement;
    meter.judgement = judgement;
    const capture = parts.capturesContent ? new Capture(piecesOf(dialect, request.body), redactor) : null;
    meter.content = capture && (() => capture.content());
    if (judgement.effective === 'refuse' || judgement.effective === 'escalate') {
      blocked.keep(keyId, scene, call.body, judgement);
      throw new GatewayError(refusalCode(judgement), refusalText(judgement, voice), {
        headers: { ...policyHeaders(judgement, parts.show), 'x-should-retry': 'false' },
      });
    }
    const { request: masked, lastUserText } = reviewed!;
    const told = (given: InferenceRequest, instruction: string): InferenceRequest => ({
      ...given,
      body: instruct(dialect, given.body, instruction),
    });
    const instruction = instructionOf(judgement.effective);
    const forwarded = instruction === null ? masked : told(masked, instruction);

    const ask = async (text: string): Promise<Opinion> => {
      try {
        return await inspect(text, 'response', scene, signal);
      } catch (error) {
        call.log.warn({ err: error, request_id: call.requestId }, 'an answer could not be judged');
        return { categories: [], scores: new Map(), policies: [], missing: true };
      }
    };
    const stopFor = (found: Judgement, last: boolean): Stop => ({
      notice: refusalText(found, voice),
      text: instructionOf(found.effective) === null ? null : WITHHELD,
      instruction: last ? null : instructionOf(found.effective),
    });

    return {
      request: forwarded,
      get headers() {
        return policyHeaders(meter.judgement ?? judgement, parts.show);
      },
      mayAsk: instructionOf(compiled.mode) !== null,
      again: (words) => told(masked, words),
      guard(last, whole) {
        const collected = new Collected('response', scene.flagged);
        const before = meter.judgement ?? judgement;
        const prose = policies.readsProse(scene.subject, 'response') !== 'no';
        return createAnswerGuard({
          scene,
          engine: parts.engine,
          threshold: parts.threshold,
          mode: whole || (prose && parts.judgesWhole) ? 'buffer' : parts.stream,
          holdChars: parts.holdChars,
          // Words that were found out already would be found again in every answer to them.
          context: judgement.triggeredCategories.length > 0 ? '' : lastUserText,
          redactor: looksForData(scene) ? redactor : null,
          collected,
          asksOthers: parts.asksOthers || prose,
          ask: parts.asksOthers || prose ? ask : null,
          decide: () => {
            const found = decide(config, collected.findings, scene.standing);
            meter.judgement = joinJudgements(before, found);
            return found;
          },
          stopFor: (found) => stopFor(found, last),
          overheard: capture?.listen() ?? null,
        });
      },
    };
  };
};
