import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { DialectName } from '../../src/dialects/dialect.js';
import { ARGUMENT } from '../support/upstreams/model.js';

export type Upstream = DialectName | 'simulator';

/** What an application wants, in nobody's words. */
export interface Ask {
  readonly prompt: string;
  readonly system?: string;
  readonly png?: string;
  readonly tools?: readonly ToolSpec[];
  readonly schema?: Schema;
  readonly maxTokens?: number;
  readonly effort?: 'low' | 'high';
}

export interface Schema {
  readonly [key: string]: unknown;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: string[];
  readonly additionalProperties: false;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
}

export interface HeardCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What an application gets to see of an answer. */
export interface Heard {
  readonly text: string;
  /** Null where the library does not show it; so is the refusal. */
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly calls: readonly HeardCall[];
  readonly ending: 'stop' | 'length' | 'tools' | 'refused' | `unknown: ${string}`;
  /** Input with what was cached; null where the client was not told. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number } | null;
  readonly credits: number | undefined;
}

/** What the application says next: what its tools gave, or more words. */
export type Next = { readonly results: (call: HeardCall) => string } | { readonly prompt: string };

export interface Turn {
  readonly heard: Heard;
  /** As the client gave it. */
  readonly final: unknown;
  readonly events: readonly unknown[];
}

/** A conversation in one client's words. */
export interface Talk {
  send(mode: string): Promise<Turn>;
  add(turn: Turn, next: Next): Talk;
}

/** One client library, as an application uses it. */
export interface Caller {
  readonly name: string;
  readonly format: DialectName;
  readonly modes: readonly string[];
  /** How the names of its models begin. */
  readonly family?: string;
  /** The library shows nothing of a refusal. */
  readonly hidesRefusals?: boolean;
  /** Modes in which the library keeps to the input tokens told at the start, which are a guess where formats differ. */
  readonly keepsFirstUsage?: readonly string[];
  /** Modes in which the library does not hand on the credit fields. */
  readonly creditless: readonly string[];
  begin(model: string, ask: Ask): Talk;
}

export interface Cell {
  readonly upstream: Upstream;
  readonly caller: Caller;
}

export interface Scenario {
  readonly name: string;
  readonly ask: Ask;
  readonly skip?: (cell: Cell) => boolean;
  check(heard: Heard, cell: Cell): void;
  readonly then?: Next;
  checkThen?(heard: Heard, cell: Cell): void;
}

const objectOf = (properties: Schema['properties']): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const WORDS = Array.from({ length: 60 }, (_, index) => `w${index}`);
const THOUGHT = 'Let me see: six times seven.';
const REFUSAL = 'I cannot help with that.';
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const UNICODE =
  'Grüße, 世界! 👩‍👩‍👧‍👦 שלום 한국어 e\u0301 \u2028 "quoted" \\back\\ \t</script> data: event: 𝒳 '.repeat(40) +
  'fin';

const isScripted = ({ upstream }: Cell): boolean => upstream !== 'simulator';

const saysAll = (text: string) => (heard: Heard) => {
  assert.equal(heard.text, text);
  assert.equal(heard.ending, 'stop');
};

/** The chat format cannot ask an upstream of Responses to show its reasoning. */
const showsReasoning = ({ upstream, caller }: Cell): boolean =>
  !(upstream === 'responses' && caller.format === 'chat');

/** Proof of reasoning exists where both the upstream gives it and the client's format keeps it. */
const proves = ({ upstream, caller }: Cell): boolean => upstream !== 'chat' && caller.format !== 'chat';

export const scenarios: readonly Scenario[] = [
  {
    name: 'plain text',
    ask: { prompt: '[[say=Good morning, world.]]' },
    check: saysAll('Good morning, world.'),
  },
  {
    name: 'system',
    ask: { prompt: '[[system]]', system: 'Answer like a pirate, "matey".' },
    check(heard, cell) {
      assert.equal(heard.ending, 'stop');
      if (isScripted(cell)) assert.equal(heard.text, 'I was told: Answer like a pirate, "matey".');
      else assert.notEqual(heard.text, '');
    },
  },
  {
    name: 'two parallel tools and their results',
    ask: {
      prompt: '[[tool=get_weather]][[tool=get_time]]',
      tools: [
        { name: 'get_weather', description: 'Weather', parameters: objectOf({ city: { type: 'string' } }) },
        { name: 'get_time', description: 'Time', parameters: objectOf({ zone: { type: 'string' } }) },
      ],
    },
    check({ calls, ending }, cell) {
      assert.equal(ending, 'tools');
      assert.deepEqual(
        calls.map(({ name }) => name),
        ['get_weather', 'get_time'],
      );
      assert.notEqual(calls[0]!.id, calls[1]!.id);
      const [{ city }, { zone }] = calls.map(({ input }) => input) as [{ city: string }, { zone: string }];
      if (isScripted(cell)) assert.deepEqual([city, zone], [ARGUMENT, ARGUMENT]);
      else assert.deepEqual([typeof city, typeof zone], ['string', 'string']);
    },
    then: { results: ({ name }) => (name === 'get_weather' ? '21 °C' : '12:00') },
    checkThen(heard, cell) {
      assert.equal(heard.ending, 'stop');
      if (isScripted(cell))
        assert.equal(heard.text, `get_weather(${ARGUMENT}) gave 21 °C; get_time(${ARGUMENT}) gave 12:00`);
      else assert.match(heard.text, /2 tools answered, the first with: 21 °C/);
    },
  },
  {
    name: 'image',
    ask: { prompt: '[[look]] What is this?', png: PNG },
    check(heard, cell) {
      assert.equal(heard.ending, 'stop');
      const bytes = Buffer.from(PNG, 'base64');
      const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
      if (isScripted(cell)) assert.equal(heard.text, `I see image/png of ${bytes.length} bytes, ${digest}`);
      else assert.notEqual(heard.text, '');
    },
  },
  {
    name: 'reasoning, and its proof sent back',
    ask: { prompt: `[[think=${THOUGHT}]][[say=Forty-two.]]`, effort: 'high' },
    check(heard, cell) {
      saysAll('Forty-two.')(heard);
      if (heard.reasoning !== null) assert.equal(heard.reasoning, showsReasoning(cell) ? THOUGHT : '');
    },
    then: { prompt: '[[thoughts]]' },
    checkThen(heard, cell) {
      assert.equal(heard.ending, 'stop');
      if (isScripted(cell)) assert.equal(heard.text, `I remember ${proves(cell) ? 1 : 0} thoughts`);
    },
  },
  {
    name: 'JSON schema output',
    ask: {
      prompt: 'Tell me of a city.',
      schema: objectOf({
        city: { type: 'string' },
        inhabitants: { type: 'integer' },
        quarters: { type: 'array', items: { type: 'string' } },
      }),
    },
    check(heard, cell) {
      const { city, inhabitants, quarters } = JSON.parse(heard.text) as Record<string, unknown>;
      if (isScripted(cell)) assert.deepEqual([city, inhabitants, quarters], ['Bern', 7, ['a', 'b']]);
      else
        assert.deepEqual(
          [typeof city, typeof inhabitants, Array.isArray(quarters)],
          ['string', 'number', true],
        );
    },
  },
  {
    name: 'max tokens',
    ask: { prompt: `[[say=${WORDS.join(' ')}]]`, maxTokens: 20 },
    check(heard) {
      assert.equal(heard.ending, 'length');
      assert.equal(heard.text.trim(), WORDS.slice(0, 20).join(' '));
    },
  },
  {
    name: 'refusal',
    ask: { prompt: `[[refuse=${REFUSAL}]]` },
    // The simulator refuses nothing.
    skip: ({ upstream, caller }) => upstream === 'simulator' || caller.hidesRefusals === true,
    check(heard) {
      assert.equal(heard.ending, 'refused');
      if (heard.refusal !== null) assert.equal(heard.refusal, REFUSAL);
      // Messages has no block for a refusal, and some libraries have none either: there it stands as text.
      assert.ok(heard.text === '' || heard.text === REFUSAL, heard.text);
    },
  },
  { name: 'long unicode', ask: { prompt: `[[say=${UNICODE}]]`, maxTokens: 8_000 }, check: saysAll(UNICODE) },
];

/** What holds of every answer. */
export const checkAlways = ({ usage, credits }: Heard, cell: Cell, mode: string): void => {
  const guessed = cell.caller.format !== cell.upstream && cell.caller.keepsFirstUsage?.includes(mode);
  if (usage && isScripted(cell) && !guessed) assert.deepEqual([usage.input, usage.cached], [1_000, 200]);
  if (usage) assert.ok(usage.output > 0, 'output tokens are counted');
  if (!cell.caller.creditless.includes(mode)) assert.equal(typeof credits, 'number', 'credits are told');
};
