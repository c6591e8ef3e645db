import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Judgement } from '../../core/review.js';
import type { Scene } from './scene.js';

const REMEMBERED = 5_000;
const MEMORY_MS = 60_000;

interface Blocked {
  readonly judgement: Judgement;
  readonly scene: Scene;
  readonly untilMs: number;
}

/** What was refused a moment ago is refused again without being read: clients repeat (D38). */
export class BlockedMemory {
  readonly #ticksMs: () => number;
  readonly #blocked = new LRUCache<string, Blocked>({ max: REMEMBERED });
  /** Until when each key has something here: nobody else's requests are looked up. */
  readonly #untilMs = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(ticksMs: () => number) {
    this.#ticksMs = ticksMs;
  }

  find(keyId: string, scene: Scene, body: unknown): Judgement | null {
    const nowMs = this.#ticksMs();
    if ((this.#untilMs.get(keyId) ?? -Infinity) < nowMs) return null;
    const found = this.#blocked.get(nameOf(keyId, body));
    if (!found || found.untilMs < nowMs || !sameRules(found.scene, scene)) return null;
    return found.judgement;
  }

  keep(keyId: string, scene: Scene, body: unknown, judgement: Judgement): void {
    const untilMs = this.#ticksMs() + MEMORY_MS;
    this.#blocked.set(nameOf(keyId, body), { judgement, scene, untilMs });
    this.#untilMs.set(keyId, untilMs);
  }
}

const sameRules = (one: Scene, other: Scene): boolean =>
  one.compiled === other.compiled &&
  one.policies === other.policies &&
  one.standing === other.standing &&
  one.subject.endpoint === other.subject.endpoint &&
  one.subject.user === other.subject.user;

const nameOf = (keyId: string, body: unknown): string =>
  `${keyId} ${hash('sha256', JSON.stringify(body), 'base64')}`;
