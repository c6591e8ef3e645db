import { json, type Call, type JsonReply } from '../core/exchange.js';
import type { Log } from '../core/log.js';
import {
  askMessagesCounter,
  askResponsesCounter,
  readCounted,
  type CounterOptions,
} from '../dialects/count/ask-counter.js';
import { countInput } from '../dialects/count/count-input.js';
import { readCount, type CountRequest } from '../dialects/count/read.js';
import { byteEstimate, vocabularyOf, type Tokenizer } from '../dialects/count/tokenizer.js';
import type { Forwarded } from '../dialects/dialect.js';
import type { TextTokenizer } from '../io/tokenizer/tokenizer.js';
import { UpstreamFault, type Provider } from '../io/upstream/provider.js';
import { readWhole } from '../io/upstream/read-whole.js';
import { send, UpstreamRejection } from '../io/upstream/send.js';
import type { AskParts, Target } from './ask.js';
import { asProviderError } from './provider-errors.js';
import { findTargets, type RoadParts } from './roads.js';

/** `breakers` are of counting alone: a counter that fails must not keep a model from answering. */
export interface CountParts extends AskParts, RoadParts {
  readonly tokenizer: TextTokenizer;
  readonly log: Log;
  /** How long an upstream's counter may take, its body included. */
  readonly counterMs?: number;
}

const COUNTER_MS = 5_000;
const ANSWER_BYTES = 65_536;

interface Counter {
  readonly path: string;
  readonly ask: (request: CountRequest, options: CounterOptions) => Forwarded;
  /** Whether it reads the body as the client wrote it, so that its complaint is about that body. */
  readonly readsOriginal: boolean;
}

const messagesCounter = (messagesPath: string): Counter => ({
  path: `${messagesPath}/count_tokens`,
  ask: askMessagesCounter,
  readsOriginal: true,
});

const ownMessages = messagesCounter('/v1/messages');
const ownResponses: Counter = {
  path: '/responses/input_tokens',
  ask: askResponsesCounter,
  readsOriginal: false,
};

const ownCounters: Readonly<Record<Provider['kind'], Counter | null>> = {
  anthropic: ownMessages,
  simulator: ownMessages,
  openai_responses: ownResponses,
  openai_chat: null,
};

const counterOf = ({ provider, choice }: Target): Counter | null =>
  choice.messagesPath === null ? ownCounters[provider.kind] : messagesCounter(choice.messagesPath);

/** The body is at fault, and the model's own endpoint would say so too. */
const namesTheBody = (thrown: unknown): boolean =>
  thrown instanceof UpstreamRejection && [400, 413, 422].includes(thrown.status);

/** One try within the time: what comes too late counts as a timeout, so that a counter which hangs is given a rest. */
const hurried = (provider: Provider, late: AbortSignal): Provider => ({
  ...provider,
  attempts: 1,
  send: (request) =>
    provider.send(request).catch((thrown: unknown) => {
      throw late.aborted ? new UpstreamFault('timeout', 'The counter did not answer in time.') : thrown;
    }),
});

/** What the upstream itself counts; null where it has no counter, or that fails. */
const askUpstream = async (
  request: CountRequest,
  call: Call,
  target: Target,
  parts: CountParts,
): Promise<number | null> => {
  const counter = counterOf(target);
  if (!counter) return null;
  const late = new AbortController();
  const giveUp = new AbortController();
  const stop = (): void => giveUp.abort();
  const timer = setTimeout(() => {
    late.abort();
    stop();
  }, parts.counterMs ?? COUNTER_MS);
  call.signal.addEventListener('abort', stop, { once: true });
  const startedMs = parts.ticksMs();
  try {
    const { answer } = await send({
      targets: [{ provider: hurried(target.provider, late.signal), model: target.model }],
      build: () => ({
        path: counter.path,
        ...counter.ask(request, {
          upstreamModel: target.model,
          clientHeaders: call.headers,
          flags: target.choice.flags,
        }),
      }),
      signal: giveUp.signal,
      breakers: parts.breakers,
      onAttempt: parts.attempted,
    });
    return readCounted(await readWhole(answer.body, ANSWER_BYTES));
  } catch (thrown) {
    if (counter.readsOriginal && namesTheBody(thrown)) throw asProviderError(target.provider.name, thrown);
    parts.log.debug({ err: thrown, provider: target.provider.name }, 'a count was made here instead');
    return null;
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', stop);
    call.meter.upstreamWaitMs = parts.ticksMs() - startedMs;
  }
};

/** Counts the input of a message (seed 4.12, D41): by the upstream's own counter, a tokenizer here, or by bytes. */
export const createCountTokens =
  (parts: CountParts) =>
  async (call: Call): Promise<JsonReply> => {
    const request = readCount(call.body);
    const [target] = findTargets(request.model, call, parts);
    const exact = target ? await askUpstream(request, call, target, parts) : null;
    if (exact !== null) {
      call.meter.provider = target!.provider.name;
      return json({ input_tokens: exact }, 200, { 'x-token-count': 'exact' });
    }
    const model = target?.model ?? request.model;
    const tokenizer: Tokenizer = {
      exact: false,
      count: async (texts) =>
        (await parts.tokenizer.count(texts, vocabularyOf(model))) ?? byteEstimate.count(texts),
    };
    const tokens = await countInput(request.body, model, tokenizer);
    return json({ input_tokens: tokens }, 200, { 'x-token-count': 'estimate' });
  };
