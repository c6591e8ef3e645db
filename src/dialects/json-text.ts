/** The members of a JSON object as ranges of its text, and where its closing brace stands. */
interface Layout {
  readonly close: number;
  readonly values: ReadonlyMap<string, readonly [from: number, to: number]>;
}

/** The index behind the string that opens at `at`. */
const stringEnd = (text: string, at: number): number => {
  for (let quote = text.indexOf('"', at + 1); ; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
};

const skipSpace = (text: string, at: number): number => {
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r') at++;
  return at;
};

/** The index behind the value that begins at `at`. */
const valueEnd = (text: string, at: number): number => {
  let depth = 0;
  for (let i = at; ;) {
    const char = text[i];
    if (char === '"') {
      i = stringEnd(text, i);
      if (depth === 0) return i;
      continue;
    }
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (
      depth === 0 &&
      (char === ',' || char === ' ' || char === '\n' || char === '\t' || char === '\r')
    )
      return i;
    i++;
  }
};

const layOut = (text: string): Layout => {
  const values = new Map<string, readonly [number, number]>();
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text[at] !== '}') {
    const keyEnd = stringEnd(text, at);
    const from = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const to = valueEnd(text, from);
    values.set(JSON.parse(text.slice(at, keyEnd)) as string, [from, to]);
    at = skipSpace(text, to);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return { close: at, values };
};

const asLatin1 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('latin1');

/**
 * Sets members of a JSON object in its own bytes: present ones are replaced where they stand, new ones are written
 * before the closing brace, every other byte stays. The bytes must be an object that parses.
 */
export const setMembers = (bytes: Buffer, members: Readonly<Record<string, unknown>>): Buffer => {
  const text = bytes.toString('latin1');
  const { close, values } = layOut(text);
  const edits: [from: number, to: number, text: string][] = [];
  let added = '';
  for (const [key, value] of Object.entries(members)) {
    const range = values.get(key);
    if (range) edits.push([range[0], range[1], asLatin1(value)]);
    else added += `${values.size > 0 || added !== '' ? ',' : ''}"${key}":${asLatin1(value)}`;
  }
  edits.push([close, close, added]);
  edits.sort((a, b) => a[0] - b[0]);
  let result = '';
  let at = 0;
  for (const [from, to, replacement] of edits) {
    result += text.slice(at, from) + replacement;
    at = to;
  }
  return Buffer.from(result + text.slice(at), 'latin1');
};
