import { isObject, type Json } from '../../support/upstreams/model.js';

/** Cuts a text into the pieces of its deltas. */
export type Cut = (text: string) => readonly string[];

export const cutBy =
  (size: number): Cut =>
  (text) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));

/** The same pieces every time for the same seed: 1 to 60 characters each. */
export const cutRandomly =
  (seed: number): Cut =>
  (text) => {
    const pieces: string[] = [];
    let state = seed;
    for (let at = 0; at < text.length;) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      const size = 1 + (Math.floor(state / 65_536) % 60);
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return pieces;
  };

/** Every way in which the issue wants text cut. */
export const cuts: readonly (readonly [name: string, cut: Cut])[] = [
  ...[1, 2, 3, 7, 40].map((size) => [`${size}`, cutBy(size)] as const),
  ['random', cutRandomly(7)],
];

type Path = readonly (string | number)[];

/** Where a delta holds its text, by format. */
const textPath = (event: Json): Path | null => {
  if (typeof event.delta === 'string') return ['delta'];
  if (isObject(event.delta)) {
    const key = ['text', 'thinking', 'partial_json'].find(
      (name) => isObject(event.delta) && name in event.delta,
    );
    return key === undefined ? null : ['delta', key];
  }
  const [choice] = Array.isArray(event.choices) ? (event.choices as Json[]) : [];
  if (!choice || choice.finish_reason !== null || !isObject(choice.delta)) return null;
  const { delta } = choice;
  if ('role' in delta) return null;
  const key = ['content', 'refusal', 'reasoning_content'].find((name) => name in delta);
  if (key !== undefined) return ['choices', 0, 'delta', key];
  const [call] = Array.isArray(delta.tool_calls) ? (delta.tool_calls as Json[]) : [];
  return call && !('id' in call) ? ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments'] : null;
};

const at = (json: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], json);

const withText = (event: Json, path: Path, text: string): Json => {
  const copy = structuredClone(event);
  (at(copy, path.slice(0, -1)) as Record<string | number, unknown>)[path.at(-1)!] = text;
  return copy;
};

interface Event {
  readonly name: string | null;
  readonly data: Json | null;
  readonly raw: string;
}

const readEvents = (stream: string): readonly Event[] =>
  stream
    .split('\n\n')
    .filter((raw) => raw !== '')
    .map((raw) => {
      const name = /^event: (.*)$/m.exec(raw)?.[1] ?? null;
      const data = /^data: (.*)$/m.exec(raw)?.[1] ?? '';
      return { name, data: data.startsWith('{') ? (JSON.parse(data) as Json) : null, raw };
    });

/** Deltas in a row that write on at one place are one run. */
const placeOf = (event: Event): string | null => {
  const path = event.data && textPath(event.data);
  if (!event.data || !path) return null;
  const { index, item_id, content_index } = event.data;
  return JSON.stringify([event.name, path, index, item_id, content_index]);
};

/** The same stream with its text in other pieces; events that are numbered are numbered anew. */
export const recut = (stream: string, cut: Cut): string => {
  const events = readEvents(stream);
  const frames: string[] = [];
  let number = 0;
  const put = ({ name, data, raw }: Event): void => {
    if (!data) {
      frames.push(`${raw}\n\n`);
      return;
    }
    const told = 'sequence_number' in data ? { ...data, sequence_number: number++ } : data;
    frames.push(`${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(told)}\n\n`);
  };
  for (let i = 0; i < events.length;) {
    const event = events[i]!;
    const place = placeOf(event);
    if (place === null) {
      put(event);
      i++;
      continue;
    }
    const path = textPath(event.data!)!;
    let text = '';
    for (; i < events.length && placeOf(events[i]!) === place; i++) text += String(at(events[i]!.data, path));
    for (const piece of cut(text)) put({ ...event, data: withText(event.data!, path, piece) });
  }
  return frames.join('');
};
