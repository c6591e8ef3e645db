import fc from 'fast-check';
import type { BlockKind, FinishReason, InferenceEvent } from '../../../src/core/events.js';
import type { Usage } from '../../../src/core/usage.js';

interface DrawnBlock {
  readonly kind: BlockKind;
  readonly pieces: readonly string[];
  readonly toolId: string | undefined;
  readonly toolName: string;
  readonly signature: string | undefined;
}

const piece = fc.string({ unit: 'binary', maxLength: 12 });

const drawnBlock: fc.Arbitrary<DrawnBlock> = fc.record({
  kind: fc.constantFrom<BlockKind>('text', 'reasoning', 'tool', 'refusal'),
  pieces: fc.array(piece, { maxLength: 6 }),
  toolId: fc.option(fc.constantFrom('call_1', 'call_2', 'functions.look:0', 'toolu_x', ''), {
    nil: undefined,
  }),
  toolName: fc.constantFrom('look_up', 'send'),
  signature: fc.option(fc.constantFrom('', 'signed'), { nil: undefined }),
});

const tokens = fc.nat({ max: 1_000_000 });

export const anyUsage: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  output: tokens,
  reasoning: tokens,
});

const anyReason = fc.constantFrom<FinishReason>(
  'stop',
  'stop_sequence',
  'length',
  'tool_calls',
  'refusal',
  'pause',
);

const eventsOf = (block: DrawnBlock, index: number): InferenceEvent[] => [
  {
    type: 'block_open',
    index,
    kind: block.kind,
    ...(block.kind === 'tool' && {
      toolName: block.toolName,
      ...(block.toolId !== undefined && { toolId: block.toolId }),
    }),
  },
  ...block.pieces.map((text): InferenceEvent => ({ type: 'delta', index, text })),
  {
    type: 'block_close',
    index,
    ...(block.kind === 'reasoning' && block.signature !== undefined && { signature: block.signature }),
  },
];

/** Any sequence the event model allows, ending in a finish. */
export const anyAnswer: fc.Arbitrary<InferenceEvent[]> = fc
  .record({
    id: fc.constantFrom('msg_up', 'resp_up', 'chatcmpl-up', ''),
    startUsage: fc.option(anyUsage),
    blocks: fc.array(drawnBlock, { maxLength: 5 }),
    usage: fc.option(anyUsage),
    reason: anyReason,
    /** A block may be left open when a guard stops an answer in its middle. */
    leaveOpen: fc.boolean(),
  })
  .map(({ id, startUsage, blocks, usage, reason, leaveOpen }) => {
    const written = blocks.flatMap(eventsOf);
    return [
      { type: 'start', id, model: 'some-model', usage: startUsage } as const,
      ...(leaveOpen ? written.slice(0, -1) : written),
      ...(usage ? [{ type: 'usage', usage } as const] : []),
      { type: 'finish', reason, stopSequence: reason === 'stop_sequence' ? 'END' : null } as const,
    ];
  });

/** The same, broken off by an error somewhere after its start. */
export const anyBrokenAnswer: fc.Arbitrary<InferenceEvent[]> = fc
  .tuple(anyAnswer, fc.nat(), fc.constantFrom('provider_error', 'provider_overloaded', 'odd'))
  .map(([events, at, code]) => [
    ...events.slice(0, 1 + (at % (events.length - 1))),
    { type: 'error', code, message: 'It broke.' },
  ]);

/** The texts of these kinds of block, joined in their order. */
export const saidIn = (events: readonly InferenceEvent[], ...kinds: readonly BlockKind[]): string => {
  const indexes = new Set(
    events.flatMap((event) =>
      event.type === 'block_open' && kinds.includes(event.kind) ? [event.index] : [],
    ),
  );
  return events
    .map((event) => (event.type === 'delta' && indexes.has(event.index) ? event.text : ''))
    .join('');
};

/** Name and arguments of each call. */
export const callsIn = (events: readonly InferenceEvent[]): { name: string; input: string }[] =>
  events.flatMap((open) => {
    if (open.type !== 'block_open' || open.kind !== 'tool') return [];
    const input = events
      .map((event) => (event.type === 'delta' && event.index === open.index ? event.text : ''))
      .join('');
    return [{ name: open.toolName ?? '', input: input === '' ? '{}' : input }];
  });
