import { PARTS_OF_AN_EVENT } from './messages.js';

/** Events that were recorded in one turn of the loop; they share their fate. */
export interface OpenGroup {
  readonly id: number;
  readonly atMs: number;
  readonly parts: string[];
  readonly done: Promise<void>;
}

interface Held extends OpenGroup {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The groups that are not yet known to be safe, in order. */
export class Waiting {
  #groups: Held[] = [];
  #nextId = 1;
  /** In all of them, counted by whoever adds them. */
  events = 0;

  open(): OpenGroup {
    let resolve = (): void => {};
    let reject: Held['reject'] = () => {};
    const done = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
    done.catch(() => {}); // those who wait are told through their own chain
    const group = { id: this.#nextId++, atMs: Date.now(), parts: [], done, resolve, reject };
    this.#groups.push(group);
    return group;
  }

  /** Everything up to a group is safe, or could not be recorded. */
  settle(upTo: number, error: Error | null): void {
    let count = 0;
    for (const group of this.#groups) {
      if (group.id > upTo) break;
      count++;
      this.events -= group.parts.length / PARTS_OF_AN_EVENT;
      if (error === null) group.resolve();
      else group.reject(error);
    }
    this.#groups.splice(0, count);
  }

  /** None of them is safe; gives what was in them. */
  fail(error: Error): string[][] {
    const parts = this.#groups.map((group) => group.parts);
    for (const group of this.#groups) group.reject(error);
    this.#groups = [];
    this.events = 0;
    return parts;
  }
}
