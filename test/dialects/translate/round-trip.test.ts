import fc from 'fast-check';
import t from 'tap';
import { Ledger } from '../../../src/dialects/translate/ledger.js';
import { readers, writers } from '../../../src/dialects/translate/translate.js';
import { defaultFlags } from '../../../src/dialects/translate/upstream-flags.js';
import type { DialectName, Json } from '../../../src/dialects/dialect.js';
import type { NeutralRequest } from '../../../src/dialects/translate/neutral-request.js';
import { anyRequest, withoutPlaces } from './any-request.js';
import { names } from './translating.js';

const options = { upstreamModel: 'up', clientHeaders: {}, defaultMaxTokens: 4096 };

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
};

/** Written for an upstream of this format, and read again as if a client had sent it. */
const thereAndBack = (format: DialectName, request: NeutralRequest) => {
  const ledger = new Ledger();
  const body = writers[format](request, { from: format, options, flags: defaultFlags, ledger });
  return { read: readers[format](JSON.parse(JSON.stringify(body)) as Json), dropped: ledger.dropped() };
};

/** Upstreams of the Responses format are told not to keep answers, whoever asks. */
const asSent = (format: DialectName, request: NeutralRequest): NeutralRequest =>
  format === 'responses' ? { ...request, store: { at: '', value: false } } : request;

for (const format of names)
  t.test(`4.10 any request written as ${format} and read again is the same`, async () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const { read, dropped } = thereAndBack(format, request);
        if (dropped.length > 0) throw new Error(`dropped ${dropped.join()}`);
        const [got, want] = [withoutPlaces(read), withoutPlaces(asSent(format, request))];
        if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(want)))
          throw new Error(`${JSON.stringify(got)}\n${JSON.stringify(want)}`);
      }),
      { numRuns: 200 },
    );
  });

const anyRest = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 8 });
const fieldsOf: Readonly<Record<DialectName, readonly string[]>> = {
  messages: [
    'system',
    'messages',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'metadata',
    'stop_sequences',
  ],
  chat: [
    'messages',
    'tools',
    'tool_choice',
    'response_format',
    'stop',
    'stream_options',
    'logit_bias',
    'user',
  ],
  responses: ['input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text', 'include', 'metadata'],
};
const knownKeys = [
  'type',
  'role',
  'content',
  'text',
  'name',
  'id',
  'source',
  'function',
  'image_url',
  'output',
];
const knownWords = [
  'text',
  'user',
  'assistant',
  'tool',
  'image',
  'function',
  'message',
  'json_schema',
  'auto',
  '',
];

const oddValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...knownWords, null, 0, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...knownKeys), tie('value'), { maxKeys: 5 }),
  ),
})).value;

for (const format of names)
  t.test(`4.10 whatever stands in a ${format} body is read or refused by name, never a crash`, async () => {
    const oddBody = fc
      .tuple(fc.dictionary(fc.constantFrom(...fieldsOf[format]), oddValue, { maxKeys: 5 }), anyRest)
      .map(([odd, rest]) => ({ ...rest, ...odd }));
    fc.assert(
      fc.property(oddBody, (body) => {
        try {
          readers[format](body);
        } catch (error) {
          const { code, param } = error as { code?: string; param?: string | null };
          if (code !== 'invalid_request' || !param) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
