import type { EventContent } from '../../core/audit.js';
import type { BlockKind } from '../../core/events.js';
import type { Direction } from '../../core/review.js';
import type { Channel } from '../../dialects/guard.js';
import { createRedactor, type Redactor } from '../../text/redact.js';
import { maskArguments, maskHead } from './mask.js';
import type { Piece } from './pieces.js';

/** Characters of each side that an event holds: what the narrowest destination takes in one field. */
const MOST_CHARS = 16_384;
/** Heard beyond them, so that a value which stands across the bound is known for what it is. */
const MARGIN_CHARS = 4_096;

/** What came in one channel of an answer. */
interface Spoken {
  readonly kind: BlockKind;
  name: string;
  text: string;
  /** Characters that came after there was no room for them. */
  unheard: number;
}

/** The words of one exchange for its event, where they are kept on purpose (D28): redacted and bounded. */
export class Capture {
  readonly #pieces: readonly Piece[];
  readonly #redactor: Redactor;
  readonly #answers: Map<string, Spoken>[] = [];

  constructor(pieces: readonly Piece[], redactor: Redactor) {
    this.#pieces = pieces;
    this.#redactor = redactor;
  }

  /** Listens to one more answer. */
  listen(): (channel: Channel, text: string, isFixed: boolean) => void {
    const channels = new Map<string, Spoken>();
    this.#answers.push(channels);
    let room = MOST_CHARS + MARGIN_CHARS;
    return ({ id, kind }, text, isFixed) => {
      let spoken = channels.get(id);
      if (!spoken) channels.set(id, (spoken = { kind, name: '', text: '', unheard: 0 }));
      const heard = text.slice(0, room);
      room -= heard.length;
      spoken.unheard += text.length - heard.length;
      if (isFixed) spoken.name += heard;
      else spoken.text += heard;
    };
  }

  /** Where there is no room for everything the latest stays: the last turn, the last answer. */
  content(): EventContent {
    const asked = new Excerpts(this.#redactor);
    const request = this.#pieces
      .map(({ at, role, text }) => ({ at, role, text }))
      .reverse()
      .flatMap(({ text, ...piece }) => asked.take(text).map((kept) => ({ ...piece, text: kept })))
      .reverse();
    const said = new Excerpts(this.#redactor);
    const response = this.#answers
      .map((channels, n) => ({ channels, attempt: n + 1 }))
      .reverse()
      .map(({ channels, attempt }) => [...channels.values()].flatMap((each) => said.show(each, attempt)))
      .reverse()
      .flat();
    return {
      request,
      response,
      ...(asked.omitted > 0 && { request_omitted_characters: asked.omitted }),
      ...(said.omitted > 0 && { response_omitted_characters: said.omitted }),
    };
  }
}

/** The content of an event about one text that nobody sent (D20). */
export const contentOfText = (text: string, direction: Direction): EventContent => {
  const excerpts = new Excerpts(createRedactor());
  const texts = excerpts.take(text);
  const omitted = excerpts.omitted > 0 && { [`${direction}_omitted_characters`]: excerpts.omitted };
  return direction === 'request'
    ? { request: texts.map((kept) => ({ at: 'text', role: 'user', text: kept })), response: [], ...omitted }
    : { request: [], response: texts.map((kept) => ({ attempt: 1, kind: 'text', text: kept })), ...omitted };
};

/** Masked beginnings of texts, as long as there is room. */
class Excerpts {
  readonly #redactor: Redactor;
  #room = MOST_CHARS;
  omitted = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** One, or none where there is no room. */
  take(text: string): readonly string[] {
    if (text === '') return [];
    if (this.#room === 0) {
      this.omitted += text.length;
      return [];
    }
    const head = maskHead(text.slice(0, this.#room + MARGIN_CHARS), this.#room, this.#redactor);
    // Once there is no room for all of a text there is none: however many follow, they cost nothing.
    this.#room = head.length < text.length ? 0 : this.#room - head.length;
    this.omitted += text.length - head.length;
    return head.length === 0 ? [] : [head.text];
  }

  show({ kind, name, text, unheard }: Spoken, attempt: number): EventContent['response'] {
    this.omitted += unheard;
    const kept = kind === 'tool' ? this.#call(text, unheard > 0) : this.take(text);
    const named = name.trim();
    return kept.map((shown) => ({ attempt, kind, ...(named !== '' && { name: named }), text: shown }));
  }

  /** Whole or not at all: only the JSON itself says what its strings are. */
  #call(text: string, isCut: boolean): readonly string[] {
    if (isCut || text.length > this.#room) {
      this.omitted += text.length;
      return [];
    }
    this.#room -= text.length;
    return [maskArguments(text, this.#redactor)];
  }
}
