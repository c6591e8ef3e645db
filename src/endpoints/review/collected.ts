import type { Direction, PolicyFinding, Scores } from '../../core/review.js';
import type { Findings } from '../../rules/policy-gateway/decide.js';

/** What is found on one side, gathered from all its texts; each thing once. */
export class Collected {
  readonly #direction: Direction;
  readonly #flagged: readonly string[];
  readonly #scores = new Map<string, number>();
  readonly #policies = new Map<string, PolicyFinding>();
  readonly #denied = new Set<string>();
  readonly #listed = new Set<string>();
  readonly #masked = new Map<string, number>();
  /** Where each was first found. */
  readonly #places = new Map<string, string>();
  allowlistMiss = false;
  /** Grows with everything that is new. */
  size = 0;

  constructor(direction: Direction, flagged: readonly string[]) {
    this.#direction = direction;
    this.#flagged = flagged;
  }

  categories(names: readonly string[], scores: Scores, at = ''): void {
    for (const name of names) {
      const score = (scores as ReadonlyMap<string, number>).get(name) ?? 0;
      const before = this.#scores.get(name);
      if (before === undefined) this.#place('category', name, at);
      if (before === undefined || score > before) this.#scores.set(name, score);
    }
  }

  policies(findings: readonly PolicyFinding[], at = ''): void {
    for (const finding of findings) {
      const before = this.#policies.get(finding.id);
      if (!before) this.#place('policy', finding.id, at);
      if (!before || finding.score > before.score) this.#policies.set(finding.id, finding);
    }
  }

  denied(terms: Iterable<string>, at = ''): void {
    for (const term of terms) {
      if (this.#denied.has(term)) continue;
      this.#denied.add(term);
      this.#place('denylist', term, at);
    }
  }

  listed(terms: Iterable<string>, at = ''): void {
    for (const term of terms) {
      if (this.#listed.has(term)) continue;
      this.#listed.add(term);
      this.#place('allowlist', term, at);
    }
  }

  masked(kind: string, at = ''): void {
    const before = this.#masked.get(kind);
    this.#masked.set(kind, (before ?? 0) + 1);
    if (before === undefined) this.#place('redaction', kind, at);
    else this.size++;
  }

  placeOf(kind: string, name: string): string | undefined {
    return this.#places.get(`${kind}:${name}`);
  }

  get findings(): Findings {
    return {
      direction: this.#direction,
      categories: [...this.#scores.keys()],
      scores: this.#scores,
      requestFlagged: this.#flagged,
      denylist: [...this.#denied],
      allowlistMiss: this.allowlistMiss,
      allowlistHits: [...this.#listed],
      policies: [...this.#policies.values()],
      redactions: [...this.#masked].map(([name, count]) => ({ name, count })),
    };
  }

  #place(kind: string, name: string, at: string): void {
    this.size++;
    if (at !== '') this.#places.set(`${kind}:${name}`, at);
  }
}
