import { Automaton, CHILDREN, FAIL, findChild, FIRST_CHILD, OUTPUT, WIDTH } from './automaton.js';
import type { Sliced } from './sliced.js';

/** Before this many steps nothing is worth an interruption. */
const STEPS_BETWEEN_PAUSES = 2_048;

/** Patterns are not empty; of equal ones the first counts. */
export function* buildAutomaton(patterns: readonly string[]): Sliced<Automaton> {
  const order = yield* sortPatterns(patterns);
  const size = yield* countNodes(patterns, order);
  const nodes = new Uint32Array(size * WIDTH);
  const symbols = new Uint16Array(size);
  const endNodes = new Uint32Array(order.length);
  const endPatterns = new Uint32Array(order.length);
  const levels = [0];
  // Patterns are walked abreast: `nodeOf` is where each one has got to, and those that end drop out.
  const nodeOf = new Uint32Array(patterns.length);
  let node = 0;
  let ended = 0;
  let steps = 0;
  let active = order.length;
  for (let depth = 0; active > 0; depth++) {
    levels.push(node + 1);
    let kept = 0;
    let parent = -1;
    for (let n = 0; n < active; n++) {
      if (++steps % STEPS_BETWEEN_PAUSES === 0) yield;
      const pattern = order[n]!;
      const text = patterns[pattern]!;
      const symbol = text.charCodeAt(depth);
      if (nodeOf[pattern] !== parent || symbols[node] !== symbol) {
        parent = nodeOf[pattern]!;
        node += 1;
        symbols[node] = symbol;
        adopt(nodes, parent, node, symbol);
        let suffix = parent;
        while (suffix !== 0 && nodes[node * WIDTH + FAIL] === 0) {
          if (++steps % STEPS_BETWEEN_PAUSES === 0) yield;
          suffix = nodes[suffix * WIDTH + FAIL]!;
          nodes[node * WIDTH + FAIL] = findChild(nodes, symbols, suffix, symbol);
        }
        nodes[node * WIDTH + OUTPUT] = nodes[nodes[node * WIDTH + FAIL]! * WIDTH + OUTPUT]!;
      }
      nodeOf[pattern] = node;
      if (text.length > depth + 1) {
        order[kept++] = pattern;
      } else {
        nodes[node * WIDTH + OUTPUT] = node;
        endNodes[ended] = node;
        endPatterns[ended++] = pattern;
      }
    }
    active = kept;
  }
  return new Automaton({ nodes, symbols, levels, endNodes, endPatterns });
}

/** A parent's children come one after the other: only the first has to be remembered. */
const adopt = (nodes: Uint32Array, parent: number, child: number, symbol: number): void => {
  const [first, children] = [parent * WIDTH + FIRST_CHILD, parent * WIDTH + CHILDREN];
  if (nodes[first] === 0) {
    nodes[first] = child;
    nodes[children] = symbol;
  } else {
    nodes[children]! += 1 << 16;
  }
};

/** By code unit. In runs that stay short, then merged step by step. */
function* sortPatterns(patterns: readonly string[]): Sliced<Uint32Array> {
  const run = 512;
  let from = Uint32Array.from({ length: patterns.length }, (_, n) => n);
  let to = new Uint32Array(patterns.length);
  const isBefore = (a: number, b: number): boolean =>
    patterns[a] === patterns[b] ? a < b : patterns[a]! < patterns[b]!;
  for (let start = 0; start < from.length; start += run) {
    from.subarray(start, start + run).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    yield;
  }
  for (let width = run; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      let left = start;
      let right = Math.min(start + width, from.length);
      const [middle, end] = [right, Math.min(start + 2 * width, from.length)];
      for (let n = start; n < end; n++) {
        const leftIsNext = right >= end || (left < middle && isBefore(from[left]!, from[right]!));
        to[n] = from[leftIsNext ? left++ : right++]!;
        if (n % STEPS_BETWEEN_PAUSES === 0) yield;
      }
    }
    [from, to] = [to, from];
  }
  return yield* dropEqual(patterns, from);
}

/** Equal ones are neighbours now, the first in front. */
function* dropEqual(patterns: readonly string[], sorted: Uint32Array): Sliced<Uint32Array> {
  let kept = 0;
  for (let n = 0; n < sorted.length; n++) {
    if (kept === 0 || patterns[sorted[n]!] !== patterns[sorted[kept - 1]!]) sorted[kept++] = sorted[n]!;
    if (n % STEPS_BETWEEN_PAUSES === 0) yield;
  }
  return sorted.subarray(0, kept);
}

/** One for the beginning, and one for each symbol that a pattern does not share with the one sorted before it. */
function* countNodes(patterns: readonly string[], order: Uint32Array): Sliced<number> {
  let nodes = 1;
  let previous = '';
  for (const [n, pattern] of order.entries()) {
    const text = patterns[pattern]!;
    let shared = 0;
    while (shared < previous.length && previous.charCodeAt(shared) === text.charCodeAt(shared)) shared += 1;
    nodes += text.length - shared;
    previous = text;
    if (n % 256 === 0) yield;
  }
  return nodes;
}
