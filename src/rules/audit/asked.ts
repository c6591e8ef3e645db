import type { Question, Questions } from './messages.js';

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to the worker that wait for their answers. */
export class Asked {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** `post` sends the question under its number. */
  ask<Q extends Question>(post: (id: number) => void): Promise<ReturnType<Questions[Q]>> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      post(id);
    });
  }

  answer(id: number, result: unknown): void {
    this.#waiting.get(id)?.resolve(result as never);
    this.#waiting.delete(id);
  }

  refuse(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
  }

  refuseAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.refuse(id, error);
  }
}
