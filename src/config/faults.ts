import { isAlias, isMap, isNode, isScalar, isSeq, type Document, type LineCounter } from 'yaml';

export type Path = readonly (string | number)[];

/** Something wrong in the configuration, before its place in the file is known. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** Whether the key itself is at fault, not its value. */
  readonly atKey?: boolean;
}

export interface Fault {
  readonly file: string;
  /** From 1; 0 when the fault has no place, as with a file that cannot be read. */
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** `models[2].price`, `thresholds["self-harm/intent"]`. */
const formatPath = (path: Path): string =>
  path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!PLAIN_KEY.test(part)) return `[${JSON.stringify(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');

/** One line, as compilers write it. */
export function formatFault(fault: Fault): string {
  const place = fault.line === 0 ? fault.file : `${fault.file}:${fault.line}:${fault.column}`;
  return fault.path === '' ? `${place}: ${fault.message}` : `${place} ${fault.path}: ${fault.message}`;
}

/** The offset of a finding: its key or value, or the nearest thing around it that exists. */
function offsetOf(document: Document, finding: Finding): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const [index, part] of finding.path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const last = index === finding.path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      if (!pair) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
      if (last && finding.atKey !== true && isScalar(node)) offset = startOf(node) ?? offset;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** Gives findings their places, in the order of the file. */
export function placeFindings(
  findings: readonly Finding[],
  file: string,
  source: { readonly document: Document; readonly lines: LineCounter } | null,
): Fault[] {
  const placed = findings.map((finding): Fault => {
    const { line, col } = source
      ? source.lines.linePos(offsetOf(source.document, finding))
      : { line: 0, col: 0 };
    return { file, line, column: col, path: formatPath(finding.path), message: finding.message };
  });
  return placed.sort((one, other) => one.line - other.line || one.column - other.column);
}
