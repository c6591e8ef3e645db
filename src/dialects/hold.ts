import { setImmediate } from 'node:timers/promises';
import type { Channel, Edit, Guard, Said } from './guard.js';

/** Characters read at a stretch; then others have their turn. */
const SLICE = 8_192;

interface Waiting<Item> {
  readonly item: Item;
  readonly said: readonly Said[];
  readonly from: number;
  readonly to: number;
}

/** Takes an item that may leave; `texts` are those of its `said`, null where none of them changed. */
export type Give<Item> = (item: Item, said: readonly Said[], texts: readonly string[] | null) => void;

/** Keeps what came until the guard lets its text leave, in its order. */
export class Hold<Item> {
  readonly #guard: Guard;
  #waiting: Waiting<Item>[] = [];
  /** Edits that reach into what still waits. */
  #edits: Edit[] = [];
  #length = 0;

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  /** Whether anything waits. */
  get idle(): boolean {
    return this.#waiting.length === 0;
  }

  add(item: Item, said: readonly Said[]): void {
    const from = this.#length;
    for (const { channel, text, path } of said) {
      this.#length += text.length;
      this.#guard.write(channel, text, path === null);
    }
    this.#waiting.push({ item, said, from, to: this.#length });
  }

  /** The same without holding up the loop, however long the text is. */
  async addSlowly(item: Item, said: readonly Said[]): Promise<void> {
    const from = this.#length;
    for (const { channel, text, path } of said) {
      this.#length += text.length;
      for (let at = 0; at < text.length; at += SLICE) {
        if (at > 0) await setImmediate();
        this.#guard.write(channel, text.slice(at, at + SLICE), path === null);
      }
    }
    this.#waiting.push({ item, said, from, to: this.#length });
  }

  /** A further piece of text: true = it leaves at once, as it is. */
  offer(item: Item, { channel, path }: Pick<Said, 'channel' | 'path'>, text: string): boolean {
    const from = this.#length;
    this.#length += text.length;
    this.#guard.write(channel, text);
    if (this.#waiting.length === 0 && this.#guard.clear === this.#length && this.#guard.untouched)
      return true;
    this.#waiting.push({ item, said: [{ channel, text, path }], from, to: this.#length });
    return false;
  }

  close(channel: Channel): void {
    this.#guard.close(channel);
  }

  end(): void {
    this.#guard.end();
  }

  release(give: Give<Item>): void {
    const { clear } = this.#guard;
    const edits = this.#guard.takeEdits();
    if (edits.length > 0) this.#edits.push(...edits);
    const stays = this.#waiting.findIndex(({ to }) => to > clear);
    const leaving = stays === -1 ? this.#waiting : this.#waiting.slice(0, stays);
    if (leaving.length === 0) return;
    this.#waiting = stays === -1 ? [] : this.#waiting.slice(stays);
    for (const { item, said, from, to } of leaving)
      give(item, said, this.#edits.length > 0 && to > from ? this.#changed(said, from) : null);
    const gone = leaving.at(-1)!.to;
    if (this.#edits.length > 0) this.#edits = this.#edits.filter((edit) => edit.to > gone);
  }

  /** An edit's own text goes where it begins; what it covers is left out. */
  #changed(said: readonly Said[], from: number): readonly string[] | null {
    let at = from;
    const texts = said.map(({ text, path }) => {
      const start = at;
      at += text.length;
      const within = path === null ? [] : this.#edits.filter((edit) => edit.from < at && edit.to > start);
      if (within.length === 0) return text;
      let result = '';
      let kept = start;
      for (const edit of within) {
        if (edit.from >= start) result += text.slice(kept - start, edit.from - start) + edit.text;
        kept = Math.min(edit.to, at);
      }
      return result + text.slice(kept - start);
    });
    return texts.some((text, i) => text !== said[i]!.text) ? texts : null;
  }
}
