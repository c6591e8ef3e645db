import type { BlockKind } from '../../core/events.js';
import { frame as encode, frameText } from '../../io/sse/encode.js';
import type { Frame } from '../../io/sse/frame.js';
import { CHAT_SOURCES, chatOthers, otherTexts, without } from '../answer-texts.js';
import { argumentsText, textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import { silence, type Ear, type Heard, type Place, type Refusal } from '../ear.js';
import { DONE, isObject, objectIn, readEvent } from '../event.js';
import type { Channel, Said } from '../guard.js';
import { Mould } from '../mould.js';
import { errorIn, finishedIn, objectsIn } from './chunk.js';
import { chatFinishReason, chatUsage } from './encode.js';

const WRITTEN: readonly (readonly [key: string, kind: BlockKind])[] = [
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['content', 'text'],
  ['refusal', 'refusal'],
];

/** Lists of parts are read where they are written. */
const LISTS = ['content', 'reasoning', 'reasoning_content', 'refusal'];

type Path = readonly (string | number)[];

export interface ChatEarOptions {
  readonly shownModel: string | null;
  readonly includeUsage: boolean;
}

/** Hears the frames of /v1/chat/completions, every choice by itself. */
export class ChatEar implements Ear {
  readonly #options: ChatEarOptions;
  readonly #mould = new Mould<Place>();
  readonly #channels = new Map<string, Channel>();
  readonly #under = new Set<unknown>();
  #first: Frame | null = null;
  #sources = 0;

  constructor(options: ChatEarOptions) {
    this.#options = options;
  }

  plain(frame: Frame): string | null {
    return this.#mould.textOf(frame);
  }

  place(): Place {
    return this.#mould.served();
  }

  leftPlain(frame: Frame): void {
    this.#first ??= frame;
  }

  hear(frame: Frame): Heard {
    const data = frame.data?.trim() ?? '';
    if (data === '') return silence;
    if (data === DONE) return { ...silence, last: true };
    const chunk = readEvent(frame);
    if (errorIn(frame.event, chunk)) return { ...silence, last: true };
    const choices = objectsIn(chunk.choices);
    const sources = CHAT_SOURCES.flatMap((key) =>
      otherTexts(chunk[key], [key], () => ({ kind: 'text', id: `source:${this.#sources++}` })),
    );
    const said = [...choices.flatMap((choice, i) => this.#choice(choice, i)), ...sources];
    for (const { index } of choices) this.#under.add(index ?? 0);
    const finished = finishedIn(choices);
    for (const index of finished) this.#under.delete(index ?? 0);
    this.#learn(frame, chunk, said, finished.length === 0 && choices.length === 1);
    return {
      ...silence,
      said,
      closed: [...sources.map(({ channel }) => channel), ...this.#channelsOf(finished)],
    };
  }

  left(frame: Frame): void {
    if (this.#first === null && frame.data?.includes('"choices"') === true) this.#first = frame;
  }

  refuse({ notice, text, usage, fields }: Refusal): string {
    const { shownModel, includeUsage } = this.#options;
    const { id, created, model, system_fingerprint } = this.#first ? readEvent(this.#first) : {};
    const head = {
      id,
      object: 'chat.completion.chunk',
      created,
      model: shownModel ?? model,
      ...(system_fingerprint !== undefined && { system_fingerprint }),
    };
    const indexes = this.#under.size > 0 ? [...this.#under] : [0];
    const chunk = (delta: Json, reason: string | null, more: Json = {}): string =>
      encode(null, {
        ...head,
        choices: indexes.map((index) => ({ index, delta, finish_reason: reason })),
        ...more,
      });
    const ending = chatFinishReason('refusal', false);
    return (
      (text === null ? '' : chunk({ content: text }, null)) +
      chunk({ refusal: notice }, null) +
      (includeUsage
        ? chunk({}, ending) +
          encode(null, { ...head, choices: [], usage: { ...chatUsage(usage), ...fields }, ...fields })
        : chunk({}, ending, { ...fields })) +
      frameText(null, DONE)
    );
  }

  #choice(choice: Json, at: number): readonly Said[] {
    const index = choice.index ?? 0;
    const key = isObject(choice.delta) ? 'delta' : 'message';
    const delta = objectIn(choice, key);
    const path = ['choices', at, key];
    return [
      ...WRITTEN.flatMap(([name, kind]) => this.#written(index, delta[name], kind, [...path, name])),
      ...this.#spoken(index, objectIn(delta, 'audio').transcript, [...path, 'audio', 'transcript']),
      ...objectsIn(delta.tool_calls).flatMap((call, i) =>
        this.#call(index, call, [...path, 'tool_calls', i]),
      ),
      ...this.#oldCall(index, delta.function_call, path),
      ...this.#others(index, without(chatOthers(delta), LISTS), path),
    ];
  }

  /** Content may be a list of parts. */
  #written(index: unknown, value: unknown, kind: BlockKind, path: Path): readonly Said[] {
    const channel = this.#channelOf(`${String(index)}:${kind}`, kind);
    if (typeof value === 'string') return value === '' ? [] : [{ channel, text: value, path }];
    if (isObject(value)) return this.#others(index, value, path);
    if (!Array.isArray(value)) return [];
    return value.flatMap((part: unknown, i): readonly Said[] => {
      if (!isObject(part)) return this.#written(index, part, kind, [...path, i]);
      const at = [...path, i];
      const others = this.#others(index, without(part, ['text', 'thinking']), at);
      if ('thinking' in part)
        return [...this.#written(index, part.thinking, 'reasoning', [...at, 'thinking']), ...others];
      return typeof part.text === 'string'
        ? [{ channel, text: part.text, path: [...at, 'text'] }, ...others]
        : others;
    });
  }

  #spoken(index: unknown, text: unknown, path: Path): readonly Said[] {
    if (typeof text !== 'string' || text === '') return [];
    return [{ channel: this.#channelOf(`${String(index)}:audio`, 'text'), text, path }];
  }

  /** A name is read as the beginning of its call's text. */
  #call(index: unknown, call: Json, path: Path): readonly Said[] {
    const [key, field] = isObject(call.custom) ? ['custom', 'input'] : ['function', 'arguments'];
    const made = objectIn(call, key);
    const name = textIn(made, 'name');
    const place = JSON.stringify(call.index ?? call.id ?? 0);
    const channel = this.#channelOf(`${String(index)}:tool:${place}`, 'tool');
    const text = argumentsText(made[field]);
    return [
      ...(name === '' ? [] : [{ channel, text: `${name} `, path: null }]),
      ...(text === ''
        ? []
        : [
            {
              channel,
              text,
              path: [...path, key, field],
              ...(made[field] !== text && { json: true as const }),
            },
          ]),
      ...this.#others(index, without(call, [key]), path),
    ];
  }

  /** Pieces of one text come in the same place of every chunk. */
  #others(index: unknown, value: Json, path: Path): readonly Said[] {
    const from = path.length;
    return otherTexts(value, path, (at) => {
      const inner = at.slice(from).join('.');
      const kind = inner.startsWith('reasoning') ? 'reasoning' : 'text';
      return this.#channelOf(`${String(index)}:other:${inner}`, kind);
    });
  }

  /** The form before `tool_calls`: one call, not in a list. */
  #oldCall(index: unknown, call: unknown, path: Path): readonly Said[] {
    if (!isObject(call)) return [];
    return this.#call(index, { function: call }, path).map((said) => ({
      ...said,
      path: said.path && [...path, 'function_call', 'arguments'],
    }));
  }

  #learn(frame: Frame, chunk: Json, said: readonly Said[], goesOn: boolean): void {
    const [only] = said;
    const path = only?.path;
    if (!only || !path || said.length !== 1 || !goesOn || isObject(chunk.usage) || only.json) return;
    this.#mould.learn(frame, String(path.at(-1)), only.text, { channel: only.channel, path });
  }

  #channelsOf(choices: readonly unknown[]): readonly Channel[] {
    if (choices.length === 0) return [];
    const prefixes = choices.map((index) => `${JSON.stringify(index ?? 0)}:`);
    return [...this.#channels.values()].filter(({ id }) => prefixes.some((prefix) => id.startsWith(prefix)));
  }

  #channelOf(id: string, kind: BlockKind): Channel {
    let channel = this.#channels.get(id);
    if (!channel) this.#channels.set(id, (channel = { id, kind }));
    return channel;
  }
}
