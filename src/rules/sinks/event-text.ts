const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The text of a member at the top of an event, found without parsing the rest; null = there is none. */
export const readMember = (json: string, name: string): string | null => {
  const wanted = `"${name}":"`;
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case QUOTE:
        if (depth === 1 && json.startsWith(wanted, i)) {
          const from = i + wanted.length - 1;
          return JSON.parse(json.slice(from, endOfText(json, from) + 1)) as string;
        }
        i = endOfText(json, i);
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
    }
  }
  return null;
};

/** Where the text that begins here has its closing quote. */
const endOfText = (json: string, from: number): number => {
  for (let i = from + 1; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return json.length;
};

/** The event with more members in front of its own. */
export const withMembers = (members: string, json: string): string => `{${members},${json.slice(1)}`;

/** When an event happened, as it says itself. */
export const timeOf = (json: string, otherwise: string): string =>
  readMember(json, 'created_at') ?? otherwise;

/** What an event cannot do without. */
const kept: ReadonlySet<string> = new Set([
  'event_id',
  'event_type',
  'source',
  'created_at',
  'org_id',
  'instance_id',
  'seq',
  'prev_hash',
  'hash',
]);

/**
 * An event that fits where the destination would cut it off without a word. Its largest members go first, and
 * `export_truncated` names them; the hash stays that of the whole event.
 */
export const shrinkEvent = (json: string, maxBytes: number): string => {
  const event = JSON.parse(json) as Record<string, unknown>;
  const sizes = Object.entries(event)
    .filter(([name]) => !kept.has(name))
    .map(([name, value]) => ({ name, bytes: Buffer.byteLength(JSON.stringify(value)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const gone: string[] = [];
  let shrunk = json;
  for (const { name } of sizes) {
    if (Buffer.byteLength(shrunk) <= maxBytes) break;
    gone.push(name);
    shrunk = JSON.stringify({
      ...Object.fromEntries(Object.entries(event).filter(([each]) => !gone.includes(each))),
      export_truncated: gone,
    });
  }
  return shrunk;
};
