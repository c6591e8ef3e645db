import { GatewayError } from '../core/errors.js';
import type { BytesReply, Call, Demand, Family, Reply, StreamReply } from '../core/exchange.js';
import { addUsage, type Usage } from '../core/usage.js';
import type { Dialect, RelayHooks } from '../dialects/dialect.js';
import type { Guard } from '../dialects/guard.js';
import type { WholeAnswer } from '../dialects/translate-whole.js';
import { readWhole } from '../io/upstream/read-whole.js';
import { runStage } from '../io/upstream/run-stage.js';
import type { AskParts } from './ask.js';
import { settleBill } from './bill.js';
import { errorBody } from './error-bodies.js';
import { asProviderError, concealIn } from './provider-errors.js';
import { BYTES_PER_TOKEN, reach, type Answered } from './reach.js';
import type { OpenReview, Review } from './review/review.js';
import { createRoadFinder, type RoadParts } from './roads.js';

/** What an inference door needs of the house. */
export interface InferenceParts extends AskParts, RoadParts {
  readonly review: OpenReview;
  readonly usdPerCredit: number;
  readonly maxAnswerBytes: number;
  readonly heartbeat: StreamReply['heartbeat'];
  readonly firstToken: (model: string, seconds: number) => void;
}

const DEFAULT_OUTPUT_RESERVE = 4_096;

/** Where each family says how much may be answered; the first that is there counts, as it does for the upstream. */
const boundFields: Readonly<Record<string, readonly string[]>> = {
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
  openai: ['max_completion_tokens', 'max_tokens'],
};

/** What a request may take, guessed before it is validated: bytes by three, and what it allows itself to answer. */
export const demandIn =
  (family: Family) =>
  (body: unknown, bytes: number): Demand => {
    const fields =
      typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
    const [bound] = (boundFields[family] ?? [])
      .map((name) => fields[name])
      .filter((value) => value !== undefined && value !== null);
    const each = typeof bound === 'number' && bound >= 1 ? Math.floor(bound) : DEFAULT_OUTPUT_RESERVE;
    const { n } = fields;
    return {
      model: typeof fields['model'] === 'string' ? fields['model'] : null,
      inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
      outputTokens: each,
      ...(family === 'openai' && typeof n === 'number' && n > 1 && { answers: Math.floor(n) }),
    };
  };

/** One exchange: its review, its first answer, and the way to another one. */
interface Exchange extends Answered {
  readonly review: Review;
  /** Asks once more, with an instruction the model is to keep to. */
  again(instruction: string): Promise<Answered>;
}

/** The door of one inference format (seed 4.10, 4.11, 4.13). */
export const createInference = (dialect: Dialect, parts: InferenceParts) => {
  const findRoads = createRoadFinder(dialect.name, parts);

  return async (call: Call): Promise<Reply> => {
    const request = dialect.read(call.body);
    const roads = findRoads(request.model, call);
    const review = await parts.review(call, dialect.name, request);
    const answered = await reach(call, review.request, roads, parts);
    const exchange: Exchange = {
      ...answered,
      headers: { ...answered.headers, ...review.headers },
      review,
      again: (instruction) => reach(call, review.again(instruction), roads, parts),
    };
    return request.stream ? streamReply(exchange, parts) : wholeReply(exchange, parts);
  };
};

const readAnswer = async (answered: Answered, guard: Guard, parts: InferenceParts): Promise<WholeAnswer> => {
  const { call, request, target, answer } = answered;
  const startedMs = parts.ticksMs();
  const bytes = await readWhole(answer.body, parts.maxAnswerBytes).catch((thrown: unknown) => {
    call.meter.truncated = true;
    throw asProviderError(target.provider.name, thrown);
  });
  call.meter.upstreamWaitMs += parts.ticksMs() - startedMs;
  return target.bridge.whole(bytes, request, { ...answered, guard }).catch((thrown: unknown) => {
    throw concealIn(thrown, target.provider);
  });
};

const wholeReply = async (exchange: Exchange, parts: InferenceParts): Promise<BytesReply> => {
  const { call, review } = exchange;
  const first = await readAnswer(exchange, review.guard(false, true), parts);
  call.meter.usage = first.usage;
  const whole = (await wholeInstead(exchange, first, parts)) ?? first;
  const fields = await settleBill(call.meter, call.lease, parts.usdPerCredit);
  return {
    kind: 'bytes',
    status: 200,
    headers: { ...exchange.headers, ...review.headers },
    contentType: 'application/json',
    body: whole.seal(fields),
  };
};

/** A second answer; null = the first one ends as a refusal. */
const wholeInstead = async (
  exchange: Exchange,
  { stop, usage }: WholeAnswer,
  parts: InferenceParts,
): Promise<WholeAnswer | null> => {
  if (!stop?.instruction) return null;
  try {
    const second = await exchange.again(stop.instruction);
    const whole = await readAnswer(second, exchange.review.guard(true, true), parts);
    exchange.call.meter.usage = addUsage(usage, whole.usage);
    return whole;
  } catch (error) {
    return failedInstead(exchange, error);
  }
};

const failedInstead = ({ call }: Exchange, error: unknown): null => {
  call.log.warn({ err: error, request_id: call.requestId }, 'a second answer failed');
  return null;
};

const streamReply = (exchange: Exchange, parts: InferenceParts): StreamReply => {
  const { call, request, target, answer, shownModel, estimatedInputTokens, review } = exchange;
  demandStream(exchange);
  const guard = review.guard(false, false);
  const hooks: Omit<RelayHooks, 'instead'> = {
    shownModel,
    guard,
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
    brokenOff: () => settleBill(call.meter, call.lease, parts.usdPerCredit).catch(() => undefined),
    conceal: (words) => target.provider.conceal?.(words) ?? words,
  };
  const instead = () => streamInstead(exchange, guard, hooks, parts);
  const stage = target.bridge.stream(
    request,
    review.mayAsk ? { ...hooks, instead } : hooks,
    estimatedInputTokens,
  );
  call.meter.live = () => stage.usage;
  return {
    kind: 'stream',
    status: 200,
    headers: exchange.headers,
    source: answer.body,
    stage,
    heartbeat: parts.heartbeat,
  };
};

/** A second answer, read to its end before any of it leaves; null = the first one ends as a refusal. */
const streamInstead = async (
  exchange: Exchange,
  guard: Guard,
  hooks: Omit<RelayHooks, 'instead'>,
  parts: InferenceParts,
): Promise<Buffer | null> => {
  const instruction = guard.stop?.instruction;
  if (!instruction) return null;
  const { meter, signal } = exchange.call;
  const before = meter.usage;
  let spent = (): Usage => before;
  const note = (): void => {
    meter.usage = spent();
  };
  meter.live = () => spent();
  signal.addEventListener('abort', note, { once: true });
  try {
    const second = await exchange.again(instruction);
    demandStream(second);
    const stage = second.target.bridge.stream(
      second.request,
      {
        ...hooks,
        shownModel: second.shownModel,
        guard: exchange.review.guard(true, true),
        usage: note,
      },
      second.estimatedInputTokens,
    );
    spent = () => addUsage(before, stage.usage);
    return await runStage(second.answer.body, stage, parts.maxAnswerBytes);
  } catch (error) {
    return failedInstead(exchange, error);
  } finally {
    signal.removeEventListener('abort', note);
  }
};

const demandStream = ({ answer, target }: Answered): void => {
  const type = answer.headers['content-type'];
  if (typeof type === 'string' && type.startsWith('text/event-stream')) return;
  answer.body.destroy();
  throw new GatewayError('provider_error', `${target.provider.name} did not answer with a stream.`);
};
