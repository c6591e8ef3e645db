import { GatewayError } from '../core/errors.js';
import type { BytesReply, Call, Demand, Reply, StreamReply } from '../core/exchange.js';
import type { Dialect, DialectName, InferenceRequest, RelayHooks } from '../dialects/dialect.js';
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

const speakers: Readonly<Record<DialectName, readonly ProviderKind[]>> = {
  messages: ['anthropic', 'simulator'],
  chat: ['openai_chat', 'simulator'],
  responses: ['openai_responses', 'simulator'],
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

/** The door of one inference format (seed 4.10, 4.11, 4.13). */
export const createInference =
  (dialect: Dialect, parts: InferenceParts) =>
  async (call: Call): Promise<Reply> => {
    const request = dialect.read(call.body);
    const targets = chooseTargets(dialect, request, call, parts);
    const asked = await ask(
      call,
      targets,
      ({ model, choice }) => ({
        path: dialect.upstreamPath,
        ...dialect.forward(request, {
          upstreamModel: model,
          clientHeaders: call.headers,
          defaultMaxTokens: choice.maxOutputTokens,
          mostTokens: call.principal.maxOutputTokens,
        }),
      }),
      parts,
    );
    return request.stream
      ? streamReply(dialect, request, asked, call, parts)
      : wholeReply(dialect, request, asked, call, parts);
  };

const chooseTargets = (
  dialect: Dialect,
  request: InferenceRequest,
  call: Call,
  parts: InferenceParts,
): readonly Target[] => {
  const resolved = parts.catalog.resolve(request.model);
  if (!resolved)
    throw new GatewayError('model_not_found', `There is no model ${request.model}.`, { param: 'model' });
  call.meter.model = resolved.label;
  const allowed = call.principal.models;
  if (allowed && !allowed.some((pattern) => matchesModel(pattern, request.model)))
    throw new GatewayError('model_not_allowed', `This key may not use ${request.model}.`, { param: 'model' });
  const targets = resolved.choices.flatMap((choice) => {
    const provider = parts.providers.get(choice.provider);
    return provider && speakers[dialect.name].includes(provider.kind)
      ? [{ provider, model: choice.upstreamModel, choice }]
      : [];
  });
  if (targets.length === 0)
    throw new GatewayError(
      'unsupported_by_upstream',
      `The provider of ${request.model} does not speak the format of ${call.route.path}.`,
      { param: 'model' },
    );
  return targets;
};

const shownModel = (request: InferenceRequest, target: Target): string | null =>
  request.model === target.model ? null : request.model;

const wholeReply = async (
  dialect: Dialect,
  request: InferenceRequest,
  { target, answer }: Asked,
  call: Call,
  parts: InferenceParts,
): Promise<BytesReply> => {
  const startedMs = parts.ticksMs();
  const bytes = await readWhole(answer.body, parts.maxAnswerBytes).catch((thrown: unknown) => {
    call.meter.truncated = true;
    throw asProviderError(target.provider.name, thrown);
  });
  call.meter.upstreamWaitMs += parts.ticksMs() - startedMs;
  call.meter.usage = dialect.inspect(bytes).usage;
  const fields = await settleBill(call.meter, call.lease, parts.usdPerCredit);
  return {
    kind: 'bytes',
    status: 200,
    headers: answerHeaders(answer.headers),
    contentType: 'application/json',
    body: dialect.seal(bytes, fields, shownModel(request, target)),
  };
};

const streamReply = (
  dialect: Dialect,
  request: InferenceRequest,
  { target, answer }: Asked,
  call: Call,
  parts: InferenceParts,
): StreamReply => {
  const type = answer.headers['content-type'];
  if (typeof type !== 'string' || !type.startsWith('text/event-stream')) {
    answer.body.destroy();
    throw new GatewayError('provider_error', `${target.provider.name} did not answer with a stream.`);
  }
  const hooks: RelayHooks = {
    shownModel: shownModel(request, target),
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
  return {
    kind: 'stream',
    status: 200,
    headers: answerHeaders(answer.headers),
    source: answer.body,
    stage: dialect.relay(request, hooks),
    heartbeat: parts.heartbeat,
  };
};
