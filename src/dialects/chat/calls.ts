import { argumentsText, textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import { objectIn, unreadable } from '../event.js';
import { Strand, type Teller } from '../teller.js';

interface ChatCall {
  readonly index: number | null;
  id: string;
  /** Null until the upstream gave its name. */
  strand: Strand | null;
  /** Arguments that came before the name. */
  early: string;
}

/** The tool calls of one answer, told apart by whatever the upstream gives: an index, an id, or only their order. */
export class ChatCalls {
  readonly #teller: Teller;
  readonly #byIndex = new Map<number, ChatCall>();
  readonly #calls: ChatCall[] = [];

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  /** Takes a piece of a call; gives back the strand it was written to, null while the call has no name. */
  take(piece: Json): Strand | null {
    const made = objectIn(piece, 'function');
    const [id, name] = [textIn(piece, 'id'), textIn(made, 'name') || textIn(piece, 'name')];
    const index = typeof piece.index === 'number' ? piece.index : null;
    const call = this.#known(index, id, name) ?? this.#begin(index, id);
    if (call.id === '') call.id = id;
    const text = argumentsText(made.arguments ?? piece.arguments);
    if (call.strand === null && name === '') {
      call.early += text;
      return null;
    }
    const fresh = call.strand === null;
    call.strand ??= this.#teller.open(new Strand('tool', { id: call.id, name }));
    this.#teller.write(call.strand, fresh ? call.early + text : text);
    return call.strand;
  }

  demandNames(): void {
    if (this.#calls.some((call) => call.strand === null))
      throw unreadable('The provider called a tool without its name.');
  }

  #known(index: number | null, id: string, name: string): ChatCall | undefined {
    const named = id === '' ? undefined : this.#calls.find((call) => call.id === id);
    if (named && (index === null || index === named.index)) return named;
    const call = index === null ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (!call || name === '') return call;
    // A name begins a call, unless it only repeats that of the one under way.
    const other = id === '' ? call.strand?.input?.reached === true : call.id !== '' && call.id !== id;
    return other ? undefined : call;
  }

  #begin(index: number | null, id: string): ChatCall {
    const call = { index, id, strand: null, early: '' };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }
}
