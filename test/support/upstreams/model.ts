import { createHash } from 'node:crypto';

export type Json = Readonly<Record<string, unknown>>;

export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** A request as the scripted model understands it, whatever its format. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly system: string;
  /** The words of the last user turn that has any. */
  readonly prompt: string;
  readonly images: readonly { readonly mediaType: string; readonly bytes: Buffer }[];
  readonly tools: readonly { readonly name: string; readonly schema: Json }[];
  readonly calls: readonly AskedCall[];
  /** What the tools gave, where the last turn is their results. */
  readonly results: readonly { readonly callId: string; readonly text: string }[];
  /** Pieces of the model's own reasoning sent back with their proof. */
  readonly thoughts: number;
  readonly schema: Json | null;
  readonly maxTokens: number | null;
  readonly effort: string | null;
}

export interface Answer {
  readonly thinking: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly AskedCall[];
  readonly reason: 'stop' | 'length' | 'tools' | 'refusal';
  readonly usage: {
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly reasoning: number;
  };
}

/** A fault of the request, as its vendor would find it. */
export class BadRequest extends Error {}

export const PROOF = 'proof-of-the-scripted-model';
/** What the model gives every tool: nothing that survives careless quoting. */
export const ARGUMENT = 'Zürich "Süd" 🌍\n\\';
const INPUT_TOKENS = 1_000;
const CACHED_TOKENS = 200;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field the vendor does not know is a 400 there, and a leak of the gateway here. */
export const checkFields = (value: unknown, at: string, known: readonly string[]): Json => {
  if (!isObject(value)) throw new BadRequest(`${at}: must be an object`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new BadRequest(`${at}.${unknown}: no such field`);
  return value;
};

export const listIn = (value: Json, key: string): readonly unknown[] => {
  const list = value[key] ?? [];
  if (!Array.isArray(list)) throw new BadRequest(`${key}: must be an array`);
  return list;
};

export const textIn = (value: Json, key: string): string => {
  const text = value[key];
  if (typeof text !== 'string') throw new BadRequest(`${key}: must be a string`);
  return text;
};

export const parseInput = (text: string): Json => {
  const input: unknown = JSON.parse(text);
  if (!isObject(input)) throw new BadRequest('arguments: must be an object');
  return input;
};

export const readDataUrl = (url: string): Asked['images'][number] => {
  const [, mediaType, data] = /^data:([^;]+);base64,(.+)$/s.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) throw new BadRequest('the image is no data URL');
  return { mediaType, bytes: Buffer.from(data, 'base64') };
};

const wishes = (prompt: string, name: string): readonly string[] =>
  [...prompt.matchAll(new RegExp(`\\[\\[${name}=(.*?)\\]\\]`, 'gs'))].map(([, value]) => value!);

const describe = ({ mediaType, bytes }: Asked['images'][number]): string =>
  `${mediaType} of ${bytes.length} bytes, ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;

const callsFor = ({ prompt, tools }: Asked): readonly AskedCall[] =>
  wishes(prompt, 'tool').map((wish, index) => {
    const tool = tools.find(({ name }) => name === wish);
    if (!tool) throw new BadRequest(`the model was not given the tool ${wish}`);
    const [field] = Object.keys(isObject(tool.schema.properties) ? tool.schema.properties : {});
    if (field === undefined) throw new BadRequest(`the tool ${wish} has lost its schema`);
    return { id: `toolu_${index + 1}_of_the_model`, name: wish, input: { [field]: ARGUMENT } };
  });

/** Names each call its results belong to, so that mixed-up ids are seen. */
const tellResults = ({ calls, results }: Asked): string =>
  results
    .map(({ callId, text }) => {
      const call = calls.find(({ id }) => id === callId);
      if (!call) throw new BadRequest(`a result for the unknown call ${callId}`);
      return `${call.name}(${Object.values(call.input).join()}) gave ${text}`;
    })
    .join('; ');

const jsonFor = (schema: Json): string => {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const kinds: Readonly<Record<string, unknown>> = { string: 'Bern', integer: 7, array: ['a', 'b'] };
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, kinds[textIn(value as Json, 'type')]]),
    ),
  );
};

const speak = (asked: Asked): string => {
  const { prompt, results, schema } = asked;
  if (results.length > 0) return tellResults(asked);
  if (schema) return jsonFor(schema);
  if (prompt.includes('[[system]]')) return `I was told: ${asked.system}`;
  if (prompt.includes('[[look]]')) return `I see ${asked.images.map(describe).join(' and ')}`;
  if (prompt.includes('[[thoughts]]')) return `I remember ${asked.thoughts} thoughts`;
  return wishes(prompt, 'say').join(' ');
};

/** Words and the space behind them; long ones in pieces, so that any text has many. */
export const splitText = (text: string): readonly string[] => text.match(/\S{1,7}\s*|\s+/gu) ?? [];

/** The model: it does what `[[name=value]]` in the prompt asks, as the gateway's own simulator does. */
export const answerTo = (asked: Asked): Answer => {
  const calls = asked.results.length > 0 ? [] : callsFor(asked);
  const refusal = wishes(asked.prompt, 'refuse').join(' ');
  const thinking = asked.effort === null ? '' : wishes(asked.prompt, 'think').join(' ');
  const words = refusal === '' ? splitText(speak(asked)) : [];
  const said = words.slice(0, asked.maxTokens ?? words.length);
  const reasoning = splitText(thinking).length;
  const reasons = {
    refusal: refusal !== '',
    tools: calls.length > 0,
    length: said.length < words.length,
    stop: true,
  } as const;
  return {
    thinking,
    text: said.join(''),
    refusal,
    calls,
    reason: (['refusal', 'tools', 'length', 'stop'] as const).find((reason) => reasons[reason])!,
    usage: {
      input: INPUT_TOKENS,
      cached: CACHED_TOKENS,
      output: said.length + reasoning + calls.length * 10 + 1,
      reasoning,
    },
  };
};
