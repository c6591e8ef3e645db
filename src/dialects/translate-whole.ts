import type { InferenceEvent } from '../core/events.js';
import type { Usage } from '../core/usage.js';
import { answerTexts } from './answer-texts.js';
import { collectors, decoders, retold, saidIn, tagProof, type TranslateOptions } from './codecs.js';
import type { CreditFields, Dialect, DialectName, InferenceRequest, Json } from './dialect.js';
import { setTexts } from './ear.js';
import type { EncodeOptions } from './encoding.js';
import type { Channel, Guard, Said, Stop } from './guard.js';
import { Hold } from './hold.js';
import { tokensSaid } from './tokens.js';
import { readWhole } from './whole.js';

/** A whole answer as it is about to leave. */
export interface WholeAnswer {
  readonly usage: Usage;
  /** Why the upstream's answer is not given; what is sealed is then a refusal. */
  readonly stop: Stop | null;
  /** The answer in the client's format, with the credit fields. */
  seal(fields: CreditFields): Buffer;
}

const sealed =
  (body: Json) =>
  (fields: CreditFields): Buffer =>
    Buffer.from(JSON.stringify({ ...body, ...fields }));

export interface AnswerOptions {
  /** The model name the client asked for, where it differs from the upstream's. */
  readonly shownModel: string | null;
  /** Charged where the upstream does not tell its input tokens. */
  readonly estimatedInputTokens: number;
  /** Reads the answer before it leaves; null = nobody does. */
  readonly guard: Guard | null;
}

/** A whole answer of the client's own format: its bytes, unless the guard changes or stops it. */
export const guardWhole = async (
  dialect: Dialect,
  answer: Buffer,
  request: InferenceRequest,
  { guard, shownModel, estimatedInputTokens }: AnswerOptions,
): Promise<WholeAnswer> => {
  const { usage } = dialect.inspect(answer, estimatedInputTokens);
  const asItCame = {
    usage,
    stop: null,
    seal: (fields: CreditFields) => dialect.seal(answer, fields, shownModel),
  };
  if (!guard) return asItCame;
  const body = readWhole(answer);
  const said = answerTexts[dialect.name](body);
  const hold = new Hold<Said>(guard);
  for (const [i, each] of said.entries()) {
    await hold.addSlowly(each, [each]);
    if (said[i + 1]?.channel.id !== each.channel.id) hold.close(each.channel);
  }
  hold.end();
  while (guard.pending) await guard.pending;
  const texts: string[] = [];
  hold.release((each, _said, edited) => {
    texts.push(edited?.[0] ?? each.text);
  });
  const { stop } = guard;
  if (stop) {
    const start = {
      type: 'start',
      id: textOf(body.id),
      model: shownModel ?? textOf(body.model),
      usage: null,
    } as const;
    return { usage, stop, seal: sealed(refuseWhole(dialect.name, [start], stop, usage, request)) };
  }
  if (texts.every((text, i) => text === said[i]!.text)) return asItCame;
  const told = Buffer.from(JSON.stringify(setTexts(body, said, texts)));
  return { usage, stop, seal: (fields) => dialect.seal(told, fields, shownModel) };
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export interface TranslateWholeOptions extends TranslateOptions {
  readonly shownModel?: string | null;
  readonly guard?: Guard | null;
}

/** A whole answer of one format as one of another. Throws the error it says or is. */
export const translateWhole = async (
  from: DialectName,
  to: DialectName,
  answer: Buffer,
  request: InferenceRequest,
  options: TranslateWholeOptions = {},
): Promise<WholeAnswer> => {
  const events: InferenceEvent[] = [];
  const given = readWhole(answer);
  const decoder = new decoders[from]((event) => events.push(tagProof(event, from)), {
    shownModel: options.shownModel ?? null,
    fallbackModel: request.model,
    estimatedInputTokens: options.estimatedInputTokens ?? 0,
    countOutput: () => tokensSaid(answerTexts[from](given)),
  });
  if (decoder.takeWhole(given) === 'complete') decoder.finish();
  const { usage } = decoder;
  const { events: told, stop } = options.guard
    ? await guardEvents(events, options.guard)
    : { events, stop: null };
  const body = stop
    ? refuseWhole(to, told, stop, usage, request, options)
    : collectors[to](told, options, request.body);
  return { usage, stop, seal: sealed(body) };
};

const guardEvents = async (events: readonly InferenceEvent[], guard: Guard) => {
  const hold = new Hold<InferenceEvent>(guard);
  let channel: Channel | null = null;
  for (const event of events) {
    if (event.type === 'block_open') channel = { kind: event.kind, id: String(event.index) };
    await hold.addSlowly(event, saidIn(event, channel));
    if (event.type === 'block_close' && channel) hold.close(channel);
  }
  hold.end();
  while (guard.pending) await guard.pending;
  const told: InferenceEvent[] = [];
  hold.release((event, _said, texts) => told.push(retold(event, texts)));
  return { events: told, stop: guard.stop };
};

/** A whole answer that is not given: who answered, what it cost, and why there is nothing. */
const refuseWhole = (
  to: DialectName,
  events: readonly InferenceEvent[],
  { notice, text }: Stop,
  usage: Usage,
  request: InferenceRequest,
  options: EncodeOptions = {},
): Json => {
  const start = events.find((event) => event.type === 'start');
  const said: InferenceEvent[] =
    text === null
      ? []
      : [
          { type: 'block_open', index: 0, kind: 'text' },
          { type: 'delta', index: 0, text },
          { type: 'block_close', index: 0 },
        ];
  const refusal: InferenceEvent[] = [
    start ?? { type: 'start', id: '', model: request.model, usage: null },
    ...said,
    { type: 'usage', usage },
    { type: 'finish', reason: 'refusal', stopSequence: null, explanation: notice },
  ];
  return collectors[to](refusal, options, request.body);
};
