import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { BlockKind, FinishReason, InferenceEvent } from '../../../src/core/events.js';
import { noUsage, type Usage } from '../../../src/core/usage.js';
import { collectChat } from '../../../src/dialects/chat/collect.js';
import { encodeChat } from '../../../src/dialects/chat/encode.js';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import { settleReason } from '../../../src/dialects/encoding.js';
import { collectMessages } from '../../../src/dialects/messages/collect.js';
import { encodeMessages } from '../../../src/dialects/messages/encode.js';
import { collectResponses } from '../../../src/dialects/responses/collect.js';
import { encodeResponses } from '../../../src/dialects/responses/encode.js';
import { cutInto } from '../../golden/replay.js';
import { anyAnswer } from '../encode/any-answer.js';
import { formats, newDecoder, readStream } from './read-stream.js';

const encoders = {
  messages: () => encodeMessages(),
  chat: () => encodeChat({ includeUsage: true }),
  responses: () => encodeResponses(),
};
const collectors = { messages: collectMessages, chat: collectChat, responses: collectResponses };
const startIds = { messages: 'msg_1', chat: 'chatcmpl-1', responses: 'resp_1' };

interface Block {
  readonly kind: BlockKind;
  readonly name?: string;
  readonly id?: string;
  readonly phase?: 'commentary';
  readonly texts: string[];
  signature: string;
}

interface Told {
  readonly id: string;
  readonly startUsage: Usage | null;
  readonly blocks: Block[];
  readonly usage: Usage;
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
  readonly explanation: string | null;
}

const gather = (events: readonly InferenceEvent[]): Told => {
  const blocks: Block[] = [];
  let told: Told = {
    id: '',
    startUsage: null,
    blocks,
    usage: noUsage,
    reason: 'stop',
    stopSequence: null,
    explanation: null,
  };
  for (const event of events) {
    if (event.type === 'start')
      told = {
        ...told,
        id: event.id,
        startUsage: event.usage && { ...event.usage },
        usage: { ...(event.usage ?? noUsage) },
      };
    if (event.type === 'usage') told = { ...told, usage: { ...event.usage } };
    if (event.type === 'block_open')
      blocks.push({
        kind: event.kind,
        ...(event.toolName !== undefined && { name: event.toolName, id: event.toolId ?? '' }),
        ...(event.phase && { phase: event.phase }),
        texts: [],
        signature: '',
      });
    if (event.type === 'delta' && event.text !== '') blocks.at(-1)!.texts.push(event.text);
    if (event.type === 'block_close') blocks.at(-1)!.signature = event.signature ?? '';
    if (event.type === 'finish')
      told = {
        ...told,
        reason: event.reason,
        stopSequence: event.stopSequence,
        explanation: event.explanation ?? null,
      };
  }
  return told;
};

const joined = (blocks: readonly Block[], kind: BlockKind): string =>
  blocks.flatMap((block) => (block.kind === kind ? block.texts : [])).join('');

const withInput = (block: Block): Block =>
  block.kind === 'tool' && block.texts.length === 0 ? { ...block, texts: ['{}'] } : block;

const hasContent = ({ kind, texts, signature }: Block): boolean =>
  kind === 'tool' || texts.length > 0 || (kind === 'reasoning' && signature !== '');

const totalOf = (told: Usage, start: Usage | null): Usage => ({
  input: told.input || (start?.input ?? 0),
  cacheRead: told.cacheRead || (start?.cacheRead ?? 0),
  cacheWrite: told.cacheWrite || (start?.cacheWrite ?? 0),
  output: told.output || (start?.output ?? 0),
  reasoning: told.reasoning || (start?.reasoning ?? 0),
});

/** What a format has no room for, said in one place: everything else comes back as it was. */
const expressible: Readonly<Record<DialectName, (told: Told) => Told>> = {
  // No refusal block (its text is shown as text and explains the ending), no phase.
  messages: (told) => {
    const refusal = told.blocks.some(({ kind, texts }) => kind === 'refusal' && texts.length > 0)
      ? joined(told.blocks, 'refusal')
      : null;
    const refused = told.reason === 'refusal' || (told.reason === 'stop' && refusal !== null);
    return {
      ...told,
      startUsage: told.startUsage ?? noUsage,
      usage: totalOf(told.usage, told.startUsage),
      blocks: told.blocks.map(({ kind, name, id, texts, signature }) => ({
        kind: kind === 'refusal' ? 'text' : kind,
        ...(name !== undefined && { name }),
        ...(id !== undefined && { id }),
        texts,
        signature,
      })),
      reason: refused ? 'refusal' : told.reason,
      explanation: refused ? (refusal ?? told.explanation) : null,
    };
  },
  // One text, one run of reasoning between calls; no signature, stop sequence or pause; comments go with the reasoning.
  chat: (told) => {
    const explained = explainedApart(told);
    const blocks: Block[] = [];
    for (const { phase, ...given } of explained.blocks) {
      const block = { ...given, signature: '', kind: phase ? ('reasoning' as const) : given.kind };
      const last = blocks.at(-1);
      if (!hasContent(block)) continue;
      if (last && last.kind === block.kind && block.kind !== 'tool') last.texts.push(...block.texts);
      else blocks.push({ ...block, texts: [...block.texts] });
    }
    return { ...explained, blocks, startUsage: null, stopSequence: null, reason: plainReason(told.reason) };
  },
  // No stop sequence or pause.
  responses: (told) => ({
    ...explainedApart(told),
    startUsage: null,
    stopSequence: null,
    reason: plainReason(told.reason),
  }),
};

const plainReason = (reason: FinishReason): FinishReason =>
  reason === 'stop_sequence' || reason === 'pause' ? 'stop' : reason;

const explainedApart = (told: Told): Told => {
  if (told.explanation === null || told.blocks.some((block) => block.kind === 'refusal' && hasContent(block)))
    return { ...told, explanation: null };
  const refusal: Block = { kind: 'refusal', texts: [told.explanation], signature: '' };
  return { ...told, explanation: null, blocks: [...told.blocks, refusal] };
};

const expected = (format: DialectName, events: readonly InferenceEvent[]): Told => {
  const told = gather(events);
  const calls = told.blocks.some(({ kind }) => kind === 'tool');
  const settled = {
    ...told,
    blocks: told.blocks.map(withInput),
    reason: settleReason(told.reason, calls),
    stopSequence: told.reason === 'stop_sequence' ? told.stopSequence : null,
  };
  const fit = expressible[format](settled);
  const reason = settleReason(fit.reason, calls);
  return { ...fit, reason, blocks: fit.blocks.filter(hasContent) };
};

/** An output of 0 tells nothing: what is said is counted instead. */
const uncounted = (events: readonly InferenceEvent[], ...both: [Told, Told]): [Told, Told] => {
  if (gather(events).usage.output > 0) return both;
  const [read, wanted] = both;
  return [
    { ...read, usage: { ...read.usage, output: 0 } },
    { ...wanted, usage: { ...wanted.usage, output: 0 } },
  ];
};

/** Any answer, with calls that have ids and proper arguments, comments, and reasons for a refusal. */
const answers = (format: DialectName): fc.Arbitrary<InferenceEvent[]> =>
  fc.tuple(anyAnswer, fc.boolean(), fc.boolean()).map(([events, comments, explains]) => {
    const tools = new Set<number>();
    return events.flatMap((event): InferenceEvent[] => {
      switch (event.type) {
        case 'start':
          return [{ ...event, id: startIds[format] }];
        case 'block_open':
          if (event.kind === 'text' && comments && event.index % 2 === 0)
            return [{ ...event, phase: 'commentary' }];
          if (event.kind !== 'tool') return [event];
          tools.add(event.index);
          return [{ ...event, toolId: `call_${event.index}` }];
        case 'delta': {
          if (!tools.delete(event.index)) return event.text === '' || !isToolIn(events, event) ? [event] : [];
          const text = JSON.stringify({ said: event.text, '}': [{}, '\\"'] });
          const cut = event.text.length % text.length;
          return [text.slice(0, cut), text.slice(cut)].map((piece) => ({ ...event, text: piece }));
        }
        case 'finish':
          return [
            event.reason === 'refusal' && explains
              ? { ...event, explanation: 'It is against a rule.' }
              : event,
          ];
        default:
          return [event];
      }
    });
  });

const isToolIn = (events: readonly InferenceEvent[], { index }: { readonly index: number }): boolean =>
  events.some((event) => event.type === 'block_open' && event.index === index && event.kind === 'tool');

for (const format of formats) {
  t.test(`4.10 any answer written as ${format} and read again is the same answer`, async () => {
    fc.assert(
      fc.property(
        answers(format),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }),
        (events, lengths) => {
          const encoder = encoders[format]();
          const bytes = Buffer.from(events.map((event) => encoder.push(event)).join(''));
          const read = readStream(format, cutInto(bytes, lengths));
          assert.ok(read.complete);
          assert.deepEqual(...uncounted(events, gather(read.events), expected(format, events)));
          const again = encoders[format]();
          const twice = readStream(format, [
            Buffer.from(read.events.map((event) => again.push(event)).join('')),
          ]);
          assert.deepEqual(twice.events, read.events);
        },
      ),
      { numRuns: 500 },
    );
  });

  t.test(`4.10 any whole answer of ${format} says what its stream says`, async () => {
    fc.assert(
      fc.property(answers(format), (events) => {
        const body: Json = JSON.parse(JSON.stringify(collectors[format](events))) as Json;
        const read: InferenceEvent[] = [];
        const decoder = newDecoder(format, (event) => read.push(event));
        assert.equal(decoder.takeWhole(body), 'complete');
        decoder.finish();
        const flat = (told: Told): unknown => ({
          ...told,
          startUsage: null,
          blocks: merged(format, told.blocks).map(({ texts, ...block }) => ({
            ...block,
            text: block.kind === 'tool' ? (JSON.parse(texts.join('') || '{}') as unknown) : texts.join(''),
          })),
        });
        const told = { ...expected(format, events), usage: gather(events).usage };
        const [got, wanted] = uncounted(events, gather(read), told);
        assert.deepEqual(flat(got), flat(wanted));
      }),
      { numRuns: 300 },
    );
  });
}

/** A whole chat answer has one text of each kind, and its calls behind them. */
const merged = (format: DialectName, blocks: readonly Block[]): Block[] => {
  if (format !== 'chat') return [...blocks];
  const texts = (['reasoning', 'text', 'refusal'] as const).flatMap((kind): Block[] => {
    const text = joined(blocks, kind);
    return text === '' ? [] : [{ kind, texts: [text], signature: '' }];
  });
  return [...texts, ...blocks.filter(({ kind }) => kind === 'tool')];
};
