/** Nodes near the beginning with many children are visited at every word: they have a row of their own. */
const ROW_NODES = 1_024;
const ROW_SYMBOLS = 128;
const LEAST_CHILDREN = 6;

/** What is kept of a node, side by side: most steps of a large automaton cost one fetch from memory. */
export const FIRST_CHILD = 0;
export const FAIL = 1;
/** The longest pattern that ends here, as its node; 0 where none does. */
export const OUTPUT = 2;
/** How many children beyond the first, above the 16 bits of the first one's symbol. */
export const CHILDREN = 3;
export const WIDTH = 4;

/**
 * Aho-Corasick over UTF-16 code units. Nodes are numbered level by level, so the children of a node are neighbours,
 * sorted by symbol, and a node's depth follows from its number: 18 bytes per node in all.
 */
export class Automaton {
  readonly #nodes: Uint32Array;
  readonly #symbols: Uint16Array;
  /** Where the row of a node begins; 0 where it has none. */
  readonly #rowOf: Uint32Array;
  readonly #rows: Uint32Array;
  /** First node of each level. */
  readonly #levels: readonly number[];
  /** The nodes where a pattern ends, rising, and which pattern it is. */
  readonly #endNodes: Uint32Array;
  readonly #endPatterns: Uint32Array;

  constructor({ nodes, symbols, levels, endNodes, endPatterns }: AutomatonParts) {
    this.#nodes = nodes;
    this.#symbols = symbols;
    this.#levels = levels;
    this.#endNodes = endNodes;
    this.#endPatterns = endPatterns;
    [this.#rowOf, this.#rows] = layRows(nodes, symbols);
  }

  /** How many distinct patterns there are. */
  get size(): number {
    return this.#endNodes.length;
  }

  /** Of the longest pattern. */
  get depth(): number {
    return this.#levels.length - 1;
  }

  get bytes(): number {
    const arrays = [this.#nodes, this.#symbols, this.#rowOf, this.#rows, this.#endNodes, this.#endPatterns];
    return arrays.reduce((bytes, array) => bytes + array.byteLength, 0);
  }

  /** State 0 is the beginning: inside no pattern. */
  next(state: number, symbol: number): number {
    const nodes = this.#nodes;
    for (;;) {
      const row = state < this.#rowOf.length ? this.#rowOf[state]! : 0;
      const child =
        row !== 0 && symbol < ROW_SYMBOLS
          ? this.#rows[row + symbol]!
          : findChild(nodes, this.#symbols, state, symbol);
      if (child !== 0 || state === 0) return child;
      state = nodes[state * WIDTH + FAIL]!;
    }
  }

  /** How many of the last symbols a state remembers: its possible match begins so far back. */
  depthOf(state: number): number {
    let low = 0;
    let high = this.#levels.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#levels[middle]! <= state) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The longest pattern ending in this state, as an output; 0 where none does. */
  firstOutput(state: number): number {
    return this.#nodes[state * WIDTH + OUTPUT]!;
  }

  /** The next shorter one; 0 after the last. */
  nextOutput(output: number): number {
    return this.firstOutput(this.#nodes[output * WIDTH + FAIL]!);
  }

  /** The number of an output's pattern in what was compiled. */
  patternOf(output: number): number {
    let low = 0;
    let high = this.#endNodes.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#endNodes[middle]! < output) low = middle + 1;
      else high = middle;
    }
    return this.#endPatterns[low]!;
  }
}

export const findChild = (
  nodes: Uint32Array,
  symbols: Uint16Array,
  state: number,
  symbol: number,
): number => {
  const children = nodes[state * WIDTH + CHILDREN]!;
  const first = nodes[state * WIDTH + FIRST_CHILD]!;
  if (first === 0) return 0;
  if (children === symbol) return first;
  if (children < 1 << 16) return 0;
  let low = first;
  let high = first + (children >>> 16) + 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (symbols[middle]! <= symbol) low = middle;
    else high = middle;
  }
  return symbols[low] === symbol ? low : 0;
};

const layRows = (nodes: Uint32Array, symbols: Uint16Array): [rowOf: Uint32Array, rows: Uint32Array] => {
  const rowOf = new Uint32Array(Math.min(ROW_NODES, symbols.length));
  let size = ROW_SYMBOLS;
  for (let node = 0; node < rowOf.length; node++) {
    if (node !== 0 && nodes[node * WIDTH + CHILDREN]! >>> 16 < LEAST_CHILDREN - 1) continue;
    rowOf[node] = size;
    size += ROW_SYMBOLS;
  }
  const rows = new Uint32Array(size);
  rowOf.forEach((row, node) => {
    if (row === 0) return;
    for (let symbol = 0; symbol < ROW_SYMBOLS; symbol++) {
      rows[row + symbol] = findChild(nodes, symbols, node, symbol);
    }
  });
  return [rowOf, rows];
};

interface AutomatonParts {
  readonly nodes: Uint32Array;
  readonly symbols: Uint16Array;
  readonly levels: readonly number[];
  readonly endNodes: Uint32Array;
  readonly endPatterns: Uint32Array;
}
