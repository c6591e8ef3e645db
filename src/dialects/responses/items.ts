import { argumentsText, textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import { isObject, unreadable } from '../event.js';
import { Strand, type Teller } from '../teller.js';

export type WrittenKind = 'text' | 'refusal' | 'reasoning';

interface Part {
  readonly strand: Strand;
  /** Goes before its first piece. */
  before: string;
  /** Text came, so that the whole text which follows its deltas says nothing new. */
  written: boolean;
}

/** An output item under way. */
interface Item {
  /** Null until the upstream said what it is. */
  type: string | null;
  announced: boolean;
  finished: boolean;
  phase: 'commentary' | undefined;
  /** Arguments given when the call was announced: they count where none follow. */
  input: string;
  readonly parts: Map<string, Part>;
}

const CALL = 'call';
const REASONING_GAP = '\n\n';

const PART_KINDS: Readonly<Record<string, WrittenKind>> = {
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
  reasoning_text: 'reasoning',
  summary_text: 'reasoning',
};

/** The output items of one answer, told as blocks: one for each part of a message, for each call, for all of a reasoning. */
export class ResponsesItems {
  readonly #teller: Teller;
  readonly #byKey = new Map<unknown, Item>();
  readonly #items: Item[] = [];

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  announce(index: unknown, item: Json): void {
    const known = this.#find(index, item.id);
    const begun = known && !known.announced && !known.finished ? known : this.#add(index, item.id);
    begun.announced = true;
    this.#identify(begun, item);
  }

  /** A piece of a part, or with `whole` all of its text. */
  write(event: Json, kind: WrittenKind, text: string, whole = false): Strand {
    const item = this.#itemOf(event);
    item.type ??= kind === 'reasoning' ? 'reasoning' : 'message';
    return this.#say(this.#part(item, kind, partKey(event)), text, whole);
  }

  /** A part as it begins or ends. */
  writePart(event: Json): void {
    if (isObject(event.part)) this.write(event, partKind(event.part), partText(event.part), true);
  }

  /** A piece of a call, or with `whole` all of its arguments; null while the call is not known. */
  writeCall(event: Json, text: string, whole = false): Strand | null {
    const part = this.#itemOf(event).parts.get(CALL);
    return part ? this.#say(part, text, whole) : null; // the finished item brings what is lost here
  }

  /** The finished item: what no event brought so far is told from it. */
  finish(index: unknown, item: Json): void {
    const begun = this.#find(index, item.id) ?? this.#add(index, item.id);
    if (!begun.finished) this.#finish(begun, item);
  }

  /** Every item is finished now; those that came with the last snapshot only are told from it. */
  settle(output: readonly Json[]): void {
    const missing = this.#items.length < output.length;
    for (const [index, item] of output.entries()) {
      if (missing || this.#find(index, item.id)) this.finish(index, item);
    }
    for (const item of this.#items) if (!item.finished) this.#finish(item, {});
  }

  #finish(begun: Item, item: Json): void {
    this.#identify(begun, item);
    if (begun.type === null) throw unreadable('The provider called a tool without its name.');
    const call = begun.parts.get(CALL);
    if (call) this.#say(call, argumentsText(item.arguments) || begun.input, true);
    this.#finishParts(begun, item.summary, 's');
    this.#finishParts(begun, item.content, 'c');
    const signature = begun.type === 'reasoning' ? textIn(item, 'encrypted_content') : '';
    if (signature !== '') this.#part(begun, 'reasoning', 's0');
    const strands = new Set([...begun.parts.values()].map(({ strand }) => strand));
    for (const strand of strands) this.#teller.close(strand, signature);
    begun.finished = true;
  }

  #finishParts(begun: Item, parts: unknown, prefix: string): void {
    if (!Array.isArray(parts)) return;
    for (const [index, part] of parts.entries()) {
      if (!isObject(part)) continue;
      this.#say(this.#part(begun, partKind(part), `${prefix}${index}`), partText(part), true);
    }
  }

  #identify(begun: Item, item: Json): void {
    if (begun.type !== null || typeof item.type !== 'string') return;
    switch (item.type) {
      case 'message':
        begun.phase = item.phase === 'commentary' ? 'commentary' : undefined;
        break;
      case 'reasoning':
        break;
      case 'function_call': {
        const call = { id: textIn(item, 'call_id') || textIn(item, 'id'), name: textIn(item, 'name') };
        if (call.name === '') return;
        begun.input = argumentsText(item.arguments);
        const strand = this.#teller.open(new Strand('tool', call));
        begun.parts.set(CALL, { strand, before: '', written: false });
        break;
      }
      default:
        throw unreadable(
          `The provider answered with an item of type ${item.type}, which has no translation.`,
        );
    }
    begun.type = item.type;
  }

  #part(item: Item, kind: WrittenKind, key: string): Part {
    const known = item.parts.get(key);
    if (known) return known;
    const [first] = item.type === 'reasoning' ? item.parts.values() : [];
    const part = {
      strand: first?.strand ?? new Strand(item.type === 'reasoning' ? 'reasoning' : kind, null, item.phase),
      before: first?.written === true ? REASONING_GAP : '',
      written: false,
    };
    item.parts.set(key, part);
    return part;
  }

  #say(part: Part, text: string, whole: boolean): Strand {
    if (text !== '' && !(whole && part.written)) {
      this.#teller.write(part.strand, part.before + text);
      part.before = '';
      part.written = true;
    }
    return part.strand;
  }

  #itemOf(event: Json): Item {
    const { output_index: index, item_id: id } = event;
    if (index === undefined && id === undefined) return this.#items.at(-1) ?? this.#add(0, null);
    return this.#find(index, id) ?? this.#add(index, id);
  }

  #find(index: unknown, id: unknown): Item | undefined {
    const at = typeof index === 'number' ? this.#byKey.get(index) : undefined;
    return at ?? (typeof id === 'string' ? this.#byKey.get(id) : undefined);
  }

  #add(index: unknown, id: unknown): Item {
    const item: Item = {
      type: null,
      announced: false,
      finished: false,
      phase: undefined,
      input: '',
      parts: new Map(),
    };
    if (typeof index === 'number') this.#byKey.set(index, item);
    if (typeof id === 'string') this.#byKey.set(id, item);
    this.#items.push(item);
    return item;
  }
}

const partKey = ({ summary_index: summary, content_index: content }: Json): string =>
  typeof summary === 'number' ? `s${summary}` : `c${typeof content === 'number' ? content : 0}`;

const partKind = ({ type }: Json): WrittenKind => {
  const kind = PART_KINDS[String(type)];
  if (!kind)
    throw unreadable(`The provider answered with a part of type ${String(type)}, which has no translation.`);
  return kind;
};

const partText = (part: Json): string => textIn(part, part.type === 'refusal' ? 'refusal' : 'text');
