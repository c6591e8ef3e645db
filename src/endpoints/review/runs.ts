import type { Edit } from '../../dialects/guard.js';

interface Run {
  /** In the channel. */
  readonly from: number;
  /** In the answer. */
  readonly at: number;
  length: number;
}

/** Where the text of one channel stands among that of all: channels may take turns. */
export class Runs {
  readonly #runs: Run[] = [];
  #length = 0;

  add(at: number, length: number): void {
    const last = this.#runs.at(-1);
    if (last && last.at + last.length === at) last.length += length;
    else this.#runs.push({ from: this.#length, at, length });
    this.#length += length;
  }

  /** The place in the answer of a place in the channel. */
  placeOf(position: number): number {
    const run = this.#runs.findLast(({ from }) => from <= position);
    return run ? run.at + position - run.from : 0;
  }

  /** An edit across an interruption is one in each part: its text in the first. */
  spread({ from, to, text }: Edit): readonly Edit[] {
    return this.#runs
      .filter((run) => run.from < to && run.from + run.length > from)
      .map((run, i) => ({
        from: run.at + Math.max(0, from - run.from),
        to: run.at + Math.min(run.length, to - run.from),
        text: i === 0 ? text : '',
      }));
  }
}
