import { newId } from '../../core/ids.js';
import { frame as encode } from '../../io/sse/encode.js';
import type { Frame } from '../../io/sse/frame.js';
import { textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import type { Refusal } from '../ear.js';
import { eventType, objectIn, readEvent } from '../event.js';
import type { Channel, Said } from '../guard.js';
import { itemFrames } from './item-frames.js';
import {
  refusalPart,
  renderItem,
  responsesEnding,
  responsesUsage,
  summaryPart,
  textPart,
} from './snapshot.js';

/** A part the client has seen open: where it stands, and the text that was sent of it. */
interface OpenPart {
  readonly channel: Channel;
  readonly place: Json;
  readonly name: string;
  readonly pieces: string[];
}

/** How a part ends, by the name of its deltas. */
const ENDINGS: Readonly<
  Record<string, readonly [part: string, key: string, render: (text: string) => Json]>
> = {
  'response.output_text': ['response.content_part', 'text', textPart],
  'response.refusal': ['response.content_part', 'refusal', refusalPart],
  'response.reasoning_text': ['response.content_part', 'text', (text) => ({ type: 'reasoning_text', text })],
  'response.reasoning_summary_text': ['response.reasoning_summary_part', 'text', summaryPart],
};

/** What the client has of a response: enough to end it where it stands, with everything that was sent in it. */
export class ResponseSoFar {
  readonly #shownModel: string | null;
  readonly #items = new Map<unknown, { item: Json; done: boolean }>();
  #head: Frame | null = null;
  #last: Frame | null = null;
  #part: OpenPart | null = null;

  constructor(shownModel: string | null) {
    this.#shownModel = shownModel;
  }

  left(frame: Frame, said: readonly Said[], texts: readonly string[] | null): void {
    this.#last = frame;
    const [only] = said;
    const text = texts?.[0] ?? only?.text ?? '';
    if (only && only.channel === this.#part?.channel && only.path?.[0] === 'delta') {
      this.#part.pieces.push(text);
      return;
    }
    const type = eventType(frame);
    if (type === null) return;
    if (type.endsWith('.delta')) {
      if (only) this.#begin(frame, only.channel, type.slice(0, -'.delta'.length), text);
      return;
    }
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#head = frame;
        return;
      case 'response.output_item.added':
      case 'response.output_item.done': {
        const { output_index: at, item } = readEvent(frame);
        this.#items.set(at, { item: (item ?? {}) as Json, done: type.endsWith('.done') });
        this.#part = null;
        return;
      }
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        this.#keepPart(objectIn(readEvent(frame), 'part'), readEvent(frame).output_index);
    }
  }

  /** The same for a further piece of the text under way. */
  leftDelta(frame: Frame, channel: Channel, text: string): void {
    this.#last = frame;
    if (channel === this.#part?.channel) this.#part.pieces.push(text);
    else this.#begin(frame, channel, eventType(frame)?.slice(0, -'.delta'.length) ?? '', text);
  }

  refuse({ notice, text, usage, fields }: Refusal): string {
    const told = /"sequence_number":\s*(\d+)/.exec(this.#last?.raw.toString('latin1') ?? '')?.[1];
    let sequence = told === undefined ? 0 : Number(told) + 1;
    const next = (): number => sequence++;
    const numbered = (type: string, data: Json): string =>
      encode(type, { type, sequence_number: next(), ...data });
    const ending = responsesEnding('refusal', false);
    let frames = this.#closePart(numbered);
    for (const [outputIndex, entry] of this.#items) {
      if (entry.done) continue;
      entry.item = { ...entry.item, status: ending.status };
      frames += numbered('response.output_item.done', { output_index: outputIndex, item: entry.item });
    }
    const output = [...this.#items.values()].map(({ item }) => item);
    const say = (kind: 'text' | 'refusal', words: string): void => {
      const item = { kind, id: newId('msg'), callId: '', name: '' };
      const outputIndex = output.length;
      const inner = itemFrames(item, outputIndex, next);
      const whole = renderItem(item, words, ending.status);
      frames +=
        numbered('response.output_item.added', {
          output_index: outputIndex,
          item: renderItem(item, null, 'in_progress'),
        }) +
        inner.open(numbered) +
        inner.delta(words) +
        inner.close(numbered, words) +
        numbered('response.output_item.done', { output_index: outputIndex, item: whole });
      output.push(whole);
    };
    if (text !== null) say('text', text);
    say('refusal', notice);
    const head = this.#head ? objectIn(readEvent(this.#head), 'response') : {};
    const response = {
      ...head,
      ...(this.#shownModel !== null && { model: this.#shownModel }),
      status: ending.status,
      incomplete_details: { reason: ending.incompleteReason },
      output,
      usage: { ...responsesUsage(usage), ...fields },
      ...fields,
    };
    return frames + numbered(`response.${ending.status}`, { response });
  }

  #begin(frame: Frame, channel: Channel, name: string, text: string): void {
    const { item_id, output_index, content_index, summary_index } = readEvent(frame);
    const place = {
      item_id,
      output_index,
      ...(content_index !== undefined && { content_index }),
      ...(summary_index !== undefined && { summary_index }),
    };
    this.#part = { channel, place, name, pieces: [text] };
  }

  #closePart(numbered: (type: string, data: Json) => string): string {
    const part = this.#part;
    const shape = part && ENDINGS[part.name];
    if (!part || !shape) return '';
    const [partName, key, render] = shape;
    const text = part.pieces.join('');
    this.#keepPart(render(text), part.place.output_index);
    return (
      numbered(`${part.name}.done`, { ...part.place, [key]: text }) +
      numbered(`${partName}.done`, { ...part.place, part: render(text) })
    );
  }

  /** A part that is whole becomes part of its item. */
  #keepPart(part: Json, outputIndex: unknown): void {
    this.#part = null;
    const entry = this.#items.get(outputIndex);
    if (!entry || entry.done) return;
    const key = textIn(part, 'type') === 'summary_text' ? 'summary' : 'content';
    const before = entry.item[key];
    entry.item = { ...entry.item, [key]: [...(Array.isArray(before) ? (before as unknown[]) : []), part] };
  }
}
