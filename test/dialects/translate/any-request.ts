import fc from 'fast-check';
import type { Json } from '../../../src/dialects/dialect.js';
import type {
  Field,
  FunctionTool,
  ImagePart,
  MaybeField,
  NeutralRequest,
  Part,
  TextPart,
  Turn,
} from '../../../src/dialects/translate/neutral-request.js';
import { nothingAsked } from '../../../src/dialects/translate/nothing-asked.js';

/** Where the client wrote it is not part of what it wrote. */
const at = '';

const field = <Value>(value: Value): Field<Value> => ({ at, value });
const maybe = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<MaybeField<Value>> =>
  fc.option(values.map(field), { nil: null });

const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => text.trim() === text);

const textPart = words.map((text): TextPart => ({ kind: 'text', at, text }));

const imagePart: fc.Arbitrary<ImagePart> = fc
  .oneof(
    fc.webUrl().map((url) => ({ kind: 'url', url }) as const),
    fc
      .base64String({ minLength: 4, maxLength: 16 })
      .map((data) => ({ kind: 'base64', mediaType: 'image/png', data }) as const),
  )
  .map((source) => ({ kind: 'image', at, source, detail: null }));

const documentPart: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('document' as const),
  at: fc.constant(at),
  source: fc
    .base64String({ minLength: 4, maxLength: 16 })
    .map((data) => ({ kind: 'base64', mediaType: 'application/pdf', data }) as const),
  title: fc.constantFrom('a.pdf', 'Long title.pdf'),
  context: fc.constant(null),
});

const input = fc.dictionary(fc.constantFrom('a', 'b', 'é'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

interface Called {
  readonly name: string;
  readonly input: Json;
  readonly result: string;
}

const called: fc.Arbitrary<Called> = fc.record({
  name: fc.constantFrom('look_up', 'send'),
  input,
  result: words,
});

interface Exchange {
  readonly asked: readonly Part[];
  readonly answered: string;
  readonly calls: readonly Called[];
  readonly more: string | null;
}

const exchange: fc.Arbitrary<Exchange> = fc.record({
  asked: fc.array(fc.oneof({ weight: 3, arbitrary: textPart }, imagePart, documentPart), {
    minLength: 1,
    maxLength: 3,
  }),
  answered: words,
  calls: fc.array(called, { maxLength: 3 }),
  more: fc.option(words),
});

/** One exchange: asked, answered with calls, and their results with perhaps more text. */
const turnsOf = ({ asked, answered, calls, more }: Exchange, index: number): Turn[] => {
  const text = (words: string): TextPart => ({ kind: 'text', at, text: words });
  const turns: Turn[] = [
    { role: 'user', at, parts: asked },
    {
      role: 'assistant',
      at,
      parts: [
        text(answered),
        ...calls.map((call, nth): Part => ({
          kind: 'tool_call',
          at,
          id: `call_${index}_${nth}`,
          name: call.name,
          input: field(JSON.stringify(call.input)),
        })),
      ],
    },
  ];
  if (calls.length === 0) return turns;
  return [
    ...turns,
    {
      role: 'user',
      at,
      parts: [
        ...calls.map((call, nth): Part => ({
          kind: 'tool_result',
          at,
          id: `call_${index}_${nth}`,
          content: [text(call.result)],
          isError: false,
        })),
        ...(more === null ? [] : [text(more)]),
      ],
    },
    { role: 'assistant', at, parts: [text('Done.')] },
  ];
};

const tool: fc.Arbitrary<FunctionTool> = fc.record({
  at: fc.constant(at),
  name: fc.constantFrom('look_up', 'send'),
  description: fc.option(words, { nil: null }),
  schema: fc.constant({ type: 'object', properties: { a: { type: 'string' } } }),
  strict: fc.boolean(),
});

/** What all three formats can say. */
export const anyRequest: fc.Arbitrary<NeutralRequest> = fc
  .record({
    stream: fc.boolean(),
    system: fc.array(textPart, { maxLength: 1 }),
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 3 }),
    tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
    mode: fc.constantFrom('auto' as const, 'any' as const, 'tool' as const, null),
    parallel: fc.boolean(),
    maxTokens: fc.integer({ min: 16, max: 9_000 }).map(field),
    temperature: maybe(fc.constantFrom(0, 0.3, 0.9)),
    effort: maybe(fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max')),
    userId: maybe(words),
    serviceTier: maybe(fc.constant('auto')),
  })
  .map(({ exchanges, mode, parallel, temperature, effort, ...rest }) => ({
    ...nothingAsked,
    ...rest,
    turns: exchanges.flatMap(turnsOf),
    toolChoice: mode && { at, mode, name: mode === 'tool' ? 'send' : null, allowed: null },
    parallelTools: mode && field(parallel),
    // Reasoning has no room beside a forced call, and sampling none beside reasoning.
    ...(mode === null && effort
      ? { reasoning: { ...nothingAsked.reasoning, wanted: field(true), effort } }
      : { sampling: { ...nothingAsked.sampling, temperature } }),
  }));

/** The same request with every place forgotten. */
export const withoutPlaces = (request: NeutralRequest): unknown =>
  JSON.parse(JSON.stringify(request, (key, value: unknown) => (key === 'at' ? '' : value)));
