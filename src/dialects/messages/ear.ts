import type { BlockKind } from '../../core/events.js';
import { frame as encode } from '../../io/sse/encode.js';
import type { Frame } from '../../io/sse/frame.js';
import { otherTexts, without } from '../answer-texts.js';
import { argumentsText, textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import { silence, type Ear, type Heard, type Place, type Refusal } from '../ear.js';
import { eventType, isObject, objectIn, readEvent } from '../event.js';
import type { Channel, Said } from '../guard.js';
import { Mould } from '../mould.js';
import { messagesEnding, messagesUsage } from './encode.js';
import { isContentDelta } from './relay.js';

const DELTAS: Readonly<Record<string, readonly [kind: BlockKind, key: string]>> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['reasoning', 'thinking'],
  input_json_delta: ['tool', 'partial_json'],
};

/** What comes whole has all its text at once. */
const saying = (said: readonly Said[]): Heard => ({
  ...silence,
  said,
  closed: said.map(({ channel }) => channel).filter(({ id }) => id.startsWith('other:')),
});

/** Hears the frames of /v1/messages. */
export class MessagesEar implements Ear {
  readonly #mould = new Mould<Place>();
  readonly #channels = new Map<unknown, Channel>();
  /** The block the client has seen open. */
  #open: { readonly index: number; readonly isText: boolean } | null = null;
  #nextIndex = 0;
  #count = 0;

  plain(frame: Frame): string | null {
    return this.#mould.textOf(frame);
  }

  place(): Place {
    return this.#mould.served();
  }

  leftPlain(): void {
    // What is open stays so.
  }

  hear(frame: Frame): Heard {
    switch (eventType(frame)) {
      case 'message_start': {
        const { content } = objectIn(readEvent(frame), 'message');
        return saying(Array.isArray(content) ? content.flatMap((block, i) => this.#openings(i, block)) : []);
      }
      case 'content_block_start': {
        this.#mould.forget();
        const { index, content_block: block } = readEvent(frame);
        return saying(this.#openings(index, block, ['content_block']));
      }
      case 'content_block_delta':
        return this.#delta(frame, readEvent(frame));
      case 'content_block_stop': {
        const channel = this.#channels.get(readEvent(frame).index);
        return channel ? { ...silence, closed: [channel] } : silence;
      }
      case 'message_delta':
        return saying(this.#explanation(objectIn(objectIn(readEvent(frame), 'delta'), 'stop_details')));
      case 'message_stop':
      case 'error':
        return { ...silence, last: true };
      default:
        return silence;
    }
  }

  left(frame: Frame): void {
    if (isContentDelta(frame)) return;
    const type = eventType(frame);
    if (type === 'content_block_stop') this.#open = null;
    if (type !== 'content_block_start') return;
    const { index, content_block: block } = readEvent(frame);
    if (typeof index !== 'number') return;
    this.#open = { index, isText: isObject(block) && block.type === 'text' };
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
  }

  refuse({ notice, text, usage, fields }: Refusal): string {
    const delta = messagesEnding('refusal', null, { tools: false, refusal: notice });
    return (
      this.#say(text) +
      this.#close() +
      encode('message_delta', {
        type: 'message_delta',
        delta,
        usage: { ...messagesUsage(usage), ...fields },
        ...fields,
      }) +
      encode('message_stop', { type: 'message_stop' })
    );
  }

  #say(text: string | null): string {
    if (text === null) return '';
    let before = '';
    let index = this.#open?.index ?? this.#nextIndex;
    if (this.#open?.isText !== true) {
      before = this.#close();
      index = this.#nextIndex;
      this.#open = { index, isText: true };
      const block = { type: 'text', text: '' };
      before += encode('content_block_start', {
        type: 'content_block_start',
        index,
        content_block: block,
      });
    }
    const delta = { type: 'text_delta', text };
    return before + encode('content_block_delta', { type: 'content_block_delta', index, delta });
  }

  #close(): string {
    if (!this.#open) return '';
    const { index } = this.#open;
    this.#open = null;
    return encode('content_block_stop', { type: 'content_block_stop', index });
  }

  /** Text that is there before the first delta, and the name of a tool that is to be called. */
  #openings(index: unknown, block: unknown, path: readonly string[] | null = null): readonly Said[] {
    if (!isObject(block)) return [];
    const at = (key: string) => path && [...path, key];
    const others = (...keys: readonly string[]) => this.#others(without(block, keys), path);
    if (typeof block.text === 'string')
      return [
        { channel: this.#channelAt(index, 'text'), text: block.text, path: at('text') },
        ...others('text'),
      ];
    if (typeof block.thinking === 'string')
      return [
        { channel: this.#channelAt(index, 'reasoning'), text: block.thinking, path: at('thinking') },
        ...others('thinking'),
      ];
    if (!('input' in block) || typeof block.name !== 'string') return others();
    const channel = this.#channelAt(index, 'tool');
    const input = argumentsText(block.input);
    return [
      { channel, text: `${block.name} `, path: null },
      ...(input === '{}' || input === ''
        ? []
        : [{ channel, text: input, path: at('input'), json: true as const }]),
      ...others('input', 'name'),
    ];
  }

  /** What comes whole, each text by itself. */
  #others(value: Json, path: readonly string[] | null): readonly Said[] {
    const found = otherTexts(value, path ?? [], () => ({ kind: 'text', id: `other:${this.#count++}` }));
    return path ? found : found.map((said) => ({ ...said, path: null }));
  }

  /** A model's own refusal is told in the ending. */
  #explanation(details: Json): readonly Said[] {
    const text = textIn(details, 'explanation');
    if (text === '') return [];
    const path = ['delta', 'stop_details', 'explanation'];
    return [{ channel: this.#channelAt('ending', 'refusal'), text, path }];
  }

  #delta(frame: Frame, { index, delta }: Json): Heard {
    const given = isObject(delta) ? delta : {};
    const shape = DELTAS[textIn(given, 'type')];
    if (!shape) return saying(this.#others(given, ['delta']));
    const [kind, key] = shape;
    const text = argumentsText(given[key]);
    const place = { channel: this.#channelAt(index, kind), path: ['delta', key] };
    if (text !== '' && given[key] === text) this.#mould.learn(frame, key, text, place);
    return saying([{ ...place, text }]);
  }

  #channelAt(index: unknown, kind: BlockKind): Channel {
    let channel = this.#channels.get(index);
    if (channel?.kind !== kind) {
      channel = { kind, id: `${String(index)}:${kind}` };
      this.#channels.set(index, channel);
    }
    return channel;
  }
}
