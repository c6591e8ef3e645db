import { FEATURES_BOUND, bucketsOf, hashUnits } from '../rules/moderation/hash.js';
import type { Lexicon } from '../rules/moderation/lexicon.js';
import { Reader } from '../rules/moderation/reader.js';
import { SEGMENT_CHARACTERS } from '../rules/moderation/scan.js';
import { FEATURES_MIN } from '../rules/moderation/window-logits.js';
import { Words } from '../rules/moderation/words.js';
import type { Examples } from './regression.js';
import { isHarmless, type Row } from './rows.js';

/** What one or more rows of data became: which row each example comes from, and its share of the row's weight. */
export interface ExampleSet extends Examples {
  readonly rowOf: Uint32Array;
  readonly shares: Float32Array;
}

const WINDOW = 2 * SEGMENT_CHARACTERS;
/** Windows taken of one long harmless text. */
const WINDOWS_BOUND = 6;

/** Reads rows the way the engine reads text. A long harmless row gives several windows; any other is one example. */
export const makeExamples = (rows: readonly Row[], lexicon: Lexicon): ExampleSet => {
  const out = new Growing();
  const buckets = new Int32Array(FEATURES_BOUND);
  const seen = new Set<number>();
  let before = 0;
  let filled = 0;
  let cuts = false;
  let made = 0;
  const add = (count: number): void => {
    for (let index = 0; index < count; index++) seen.add(buckets[index]!);
  };
  const close = (): void => {
    if (seen.size > 0 && made < WINDOWS_BOUND) {
      out.add(seen);
      made++;
    }
    seen.clear();
    filled = 0;
  };
  const words = new Words(lexicon, {
    word(units, from, to, hash) {
      add(bucketsOf(units, from, to, hash, before, buckets));
      before = hash;
      filled += to - from + 1;
      if (cuts && filled >= WINDOW) close();
    },
    variant(units, from, to) {
      add(bucketsOf(units, from, to, hashUnits(units, from, to), 0, buckets));
    },
  });
  const reader = new Reader({ token: (token, end) => words.token(token, end), encoded: () => undefined });
  rows.forEach((row, index) => {
    before = made = 0;
    cuts = isHarmless(row);
    reader.reset();
    words.reset();
    reader.read(row.text);
    reader.finish();
    words.finish();
    close();
    out.endRow(index, made);
  });
  return out.finish();
};

/** Typed arrays that grow: there are tens of millions of features. */
class Growing {
  #features = new Uint32Array(1 << 22);
  #used = 0;
  readonly #starts: number[] = [0];
  readonly #values: number[] = [];
  readonly #rowOf: number[] = [];
  readonly #shares: number[] = [];

  add(buckets: ReadonlySet<number>): void {
    if (this.#used + buckets.size > this.#features.length) {
      const larger = new Uint32Array(this.#features.length * 2);
      larger.set(this.#features);
      this.#features = larger;
    }
    for (const bucket of buckets) this.#features[this.#used++] = bucket;
    this.#starts.push(this.#used);
    this.#values.push(1 / Math.sqrt(Math.max(FEATURES_MIN, buckets.size)));
  }

  endRow(row: number, examples: number): void {
    for (let index = 0; index < examples; index++) {
      this.#rowOf.push(row);
      this.#shares.push(1);
    }
  }

  finish(): ExampleSet {
    return {
      count: this.#values.length,
      starts: Uint32Array.from(this.#starts),
      features: this.#features.subarray(0, this.#used),
      values: Float32Array.from(this.#values),
      rowOf: Uint32Array.from(this.#rowOf),
      shares: Float32Array.from(this.#shares),
    };
  }
}
