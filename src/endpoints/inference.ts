import { GatewayError } from '../core/errors.js';
import type { BytesReply, Call, Demand, Reply, StreamReply } from '../core/exchange.js';
import { bridge, type Bridge, type Crossed } from '../dialects/bridge.js';
import {
  dialectNames,
  type Dialect,
  type DialectName,
  type InferenceRequest,
  type RelayHooks,
} from '../dialects/dialect.js';
import { answerHeaders } from '../io/upstream/headers.js';
import type { Provider, ProviderKind } from '../io/upstream/provider.js';
import { readWhole } from '../io/upstream/read-whole.js';
import { matchesModel, type Catalog } from '../rules/models/catalog.js';
import { ask, type Asked, type AskParts, type Target } from './ask.js';
import { settleBill } from './bill.js';
import { errorBody } from './error-bodies.js';
import { asProviderError } from './provider-errors.js';

/** What an inference door needs of the house. */
export interface InferenceParts extends AskParts {
  readonly catalog: Catalog;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly usdPerCredit: number;
  readonly maxAnswerBytes: number;
  readonly heartbeat: StreamReply['heartbeat'];
  readonly firstToken: (model: string, seconds: number) => void;
}

/** The format a provider speaks; the simulator speaks whichever it is asked in. */
const spoken: Readonly<Record<Exclude<ProviderKind, 'simulator'>, DialectName>> = {
  anthropic: 'messages',
  openai_chat: 'chat',
  openai_responses: 'responses',
};

const BYTES_PER_TOKEN = 3;
const DEFAULT_OUTPUT_RESERVE = 4_096;

/** What a request may take, guessed before it is validated: bytes by three, and what it allows itself to answer. */
export const demandOf = (body: unknown, bytes: number): Demand => {
  const fields = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const bound = fields['max_tokens'] ?? fields['max_completion_tokens'] ?? fields['max_output_tokens'];
  return {
    model: typeof fields['model'] === 'string' ? fields['model'] : null,
    inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    outputTokens: typeof bound === 'number' && bound >= 1 ? Math.floor(bound) : DEFAULT_OUTPUT_RESERVE,
  };
};

/** A target, and the way there and back. */
interface Road extends Target {
  readonly bridge: Bridge;
}

/** What is known once an upstream answers. */
interface Answered extends Asked<Road> {
  readonly call: Call;
  readonly request: InferenceRequest;
  readonly shownModel: string | null;
  readonly estimatedInputTokens: number;
  readonly headers: Readonly<Record<string, string>>;
}

const nothingSent: Crossed = { body: '', headers: {}, dropped: [] };

/** The door of one inference format (seed 4.10, 4.11, 4.13). */
export const createInference = (dialect: Dialect, parts: InferenceParts) => {
  const bridges = new Map(dialectNames.map((upstream) => [upstream, bridge(dialect.name, upstream)]));
  const bridgeTo = (kind: ProviderKind): Bridge =>
    bridges.get(kind === 'simulator' ? dialect.name : spoken[kind])!;

  return async (call: Call): Promise<Reply> => {
    const request = dialect.read(call.body);
    const roads = findRoads(request, call, parts, bridgeTo);
    let sent: Crossed = nothingSent;
    const build = (road: Road) => {
      try {
        sent = road.bridge.forward(request, {
          upstreamModel: road.model,
          clientHeaders: call.headers,
          defaultMaxTokens: road.choice.maxOutputTokens,
          mostTokens: call.principal.maxOutputTokens,
        });
      } catch (error) {
        // What a fallback cannot express is no fault of the request: it is passed over.
        if (road === roads[0]) throw error;
        return null;
      }
      return { path: road.bridge.upstreamPath, headers: sent.headers, body: sent.body };
    };
    const asked = await ask(call, roads, build, parts);
    const { body, dropped } = sent;
    const answered: Answered = {
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
    return request.stream ? streamReply(answered, parts) : wholeReply(answered, parts);
  };
};

const findRoads = (
  request: InferenceRequest,
  call: Call,
  parts: InferenceParts,
  bridgeTo: (kind: ProviderKind) => Bridge,
): readonly Road[] => {
  const resolved = parts.catalog.resolve(request.model);
  if (!resolved)
    throw new GatewayError('model_not_found', `There is no model ${request.model}.`, { param: 'model' });
  call.meter.model = resolved.label;
  const allowed = call.principal.models;
  if (allowed && !allowed.some((pattern) => matchesModel(pattern, request.model)))
    throw new GatewayError('model_not_allowed', `This key may not use ${request.model}.`, { param: 'model' });
  return resolved.choices.flatMap((choice) => {
    const provider = parts.providers.get(choice.provider);
    return provider
      ? [{ provider, model: choice.upstreamModel, choice, bridge: bridgeTo(provider.kind) }]
      : [];
  });
};

const wholeReply = async (answered: Answered, parts: InferenceParts): Promise<BytesReply> => {
  const { call, request, target, answer } = answered;
  const startedMs = parts.ticksMs();
  const bytes = await readWhole(answer.body, parts.maxAnswerBytes).catch((thrown: unknown) => {
    call.meter.truncated = true;
    throw asProviderError(target.provider.name, thrown);
  });
  call.meter.upstreamWaitMs += parts.ticksMs() - startedMs;
  const whole = target.bridge.whole(bytes, request, answered);
  call.meter.usage = whole.usage;
  const fields = await settleBill(call.meter, call.lease, parts.usdPerCredit);
  return {
    kind: 'bytes',
    status: 200,
    headers: answered.headers,
    contentType: 'application/json',
    body: whole.seal(fields),
  };
};

const streamReply = (answered: Answered, parts: InferenceParts): StreamReply => {
  const { call, request, target, answer, shownModel, estimatedInputTokens } = answered;
  const type = answer.headers['content-type'];
  if (typeof type !== 'string' || !type.startsWith('text/event-stream')) {
    answer.body.destroy();
    throw new GatewayError('provider_error', `${target.provider.name} did not answer with a stream.`);
  }
  const hooks: RelayHooks = {
    shownModel,
    usage: (usage) => {
      call.meter.usage = usage;
    },
    firstToken: () => {
      call.meter.firstTokenMs = parts.ticksMs() - call.receivedMs;
      parts.firstToken(call.meter.model ?? 'other', call.meter.firstTokenMs / 1_000);
    },
    settle: () => settleBill(call.meter, call.lease, parts.usdPerCredit),
    errorBody: (error) => errorBody(error, call.route.family, call.requestId),
    truncated: () => {
      call.meter.truncated = true;
    },
  };
  const stage = target.bridge.stream(request, hooks, estimatedInputTokens);
  call.meter.live = () => stage.usage;
  return {
    kind: 'stream',
    status: 200,
    headers: answered.headers,
    source: answer.body,
    stage,
    heartbeat: parts.heartbeat,
  };
};
