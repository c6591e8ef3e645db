type Cell = string | number | null | undefined;

/** Rows under headings, for people. */
export function formatTable(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const formatSeconds = (seconds: number | null | undefined): string | null =>
  seconds === null || seconds === undefined
    ? null
    : new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ');

export const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);
