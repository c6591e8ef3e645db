import type { Random } from './random.js';

/** Rows of features that are either there or not: row i has `features[starts[i] .. starts[i + 1]]`, all of one value. */
export interface Examples {
  readonly count: number;
  readonly starts: Uint32Array;
  readonly features: Uint32Array;
  readonly values: Float32Array;
}

export interface Problem {
  readonly examples: Examples;
  /** The rows that take part, their sides (+1 or -1), and what an error on each costs. */
  readonly rows: Uint32Array;
  readonly sides: Int8Array;
  readonly costs: Float64Array;
  readonly size: number;
  readonly rounds: number;
  readonly random: Random;
}

export interface Line {
  readonly weights: Float32Array;
  readonly bias: number;
}

const INNER_BOUND = 100;
const INNER_LEAST = 1e-8;
const STOP = 0.05;

/**
 * L2-regularised logistic regression by dual coordinate descent (Yu, Huang and Lin, 2011): each row has one dual value
 * between 0 and its cost, found by Newton steps while all the others stand still.
 */
export const fitLine = ({ examples, rows, sides, costs, size, rounds, random }: Problem): Line => {
  const { starts, features, values } = examples;
  const weights = new Float32Array(size);
  let bias = 0;
  const lower = new Float64Array(rows.length);
  const order = Uint32Array.from(rows.keys());
  const move = (index: number, step: number): void => {
    const row = rows[index]!;
    const shift = step * values[row]!;
    for (let at = starts[row]!, end = starts[row + 1]!; at < end; at++) weights[features[at]!]! += shift;
    bias += step;
  };
  for (let index = 0; index < rows.length; index++) {
    lower[index] = Math.min(0.001 * costs[index]!, 1e-8);
    move(index, sides[index]! * lower[index]!);
  }
  let innerStop = 1e-2;
  for (let round = 0; round < rounds; round++) {
    shuffle(order, random);
    let steps = 0;
    let largest = 0;
    for (const index of order) {
      const row = rows[index]!;
      const [from, end] = [starts[row]!, starts[row + 1]!];
      const side = sides[index]!;
      let sum = 0;
      for (let at = from; at < end; at++) sum += weights[features[at]!]!;
      const value = values[row]!;
      const slope = side * (sum * value + bias);
      const curve = (end - from) * value * value + 1;
      const cost = costs[index]!;
      const first = lower[index]!;
      const turned = 0.5 * curve * (cost - 2 * first) + slope < 0;
      const sign = turned ? -1 : 1;
      const old = turned ? cost - first : first;
      let now = cost - old < 0.5 * cost ? 0.1 * old : old;
      let gradient = curve * (now - old) + sign * slope + Math.log(now / (cost - now));
      largest = Math.max(largest, Math.abs(gradient));
      let inner = 0;
      for (; inner <= INNER_BOUND && Math.abs(gradient) >= innerStop; inner++) {
        const next = now - gradient / (curve + cost / (cost - now) / now);
        now = next <= 0 ? now * 0.1 : next;
        gradient = curve * (now - old) + sign * slope + Math.log(now / (cost - now));
      }
      if (inner === 0) continue;
      steps += inner;
      lower[index] = turned ? cost - now : now;
      move(index, sign * (now - old) * side);
    }
    if (largest < STOP) break;
    if (steps <= rows.length / 10) innerStop = Math.max(INNER_LEAST, 0.1 * innerStop);
  }
  return { weights, bias };
};

const shuffle = (order: Uint32Array, random: Random): void => {
  for (let index = order.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    const kept = order[index]!;
    order[index] = order[other]!;
    order[other] = kept;
  }
};
