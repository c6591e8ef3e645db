import type { Method } from '../../core/exchange.js';

interface Row {
  readonly method: Method;
  readonly path: string;
}

export type Match<R extends Row> =
  | { readonly route: R; readonly params: Readonly<Record<string, string>> }
  /** The path is known, the method is not: what the `Allow` header of a 405 lists. */
  | { readonly allow: readonly string[] };

export type Matcher<R extends Row> = (method: string, path: string) => Match<R> | null;

/** The rows of one path pattern, by method. */
interface Leaf<R> {
  readonly names: readonly string[];
  readonly rows: Map<string, R>;
}

interface Branch<R> {
  readonly literals: Map<string, Branch<R>>;
  /** The branch of a `{name}` segment. */
  any: Branch<R> | null;
  leaf: Leaf<R> | null;
  /** The leaf of a last `*`. */
  rest: Leaf<R> | null;
}

const branch = <R>(): Branch<R> => ({ literals: new Map(), any: null, leaf: null, rest: null });

const NAMED = /^\{([a-z][a-z0-9_]*)\}$/;
const noParams = Object.freeze({});

const plant = <R extends Row>(root: Branch<R>, row: R): void => {
  const names: string[] = [];
  const segments = row.path.slice(1).split('/');
  const toRest = segments.at(-1) === '*';
  if (toRest) segments.pop();
  let at = root;
  for (const segment of segments) {
    const name = NAMED.exec(segment)?.[1];
    if (name === undefined) {
      if (/[{}*]/.test(segment)) throw new Error(`The route ${row.path} has a segment that is no pattern.`);
      let next = at.literals.get(segment);
      if (!next) at.literals.set(segment, (next = branch()));
      at = next;
    } else {
      names.push(name);
      at = at.any ??= branch();
    }
  }
  if (toRest) names.push('*');
  const leaf = toRest ? (at.rest ??= { names, rows: new Map() }) : (at.leaf ??= { names, rows: new Map() });
  if (leaf.names.join() !== names.join())
    throw new Error(`The route ${row.path} names its parameters otherwise than its sibling.`);
  if (leaf.rows.has(row.method))
    throw new Error(`The route ${row.method} ${row.path} stands twice in the table.`);
  leaf.rows.set(row.method, row);
};

/** One question to the tree, and the methods met on the way where none fits. */
interface Quest {
  readonly method: string;
  readonly segments: readonly string[];
  readonly allow: Set<string>;
}

const pick = <R extends Row>(leaf: Leaf<R>, values: readonly string[], quest: Quest): Match<R> | null => {
  const route = leaf.rows.get(quest.method);
  if (route) return { route, params: Object.fromEntries(leaf.names.map((name, i) => [name, values[i]!])) };
  for (const method of leaf.rows.keys()) quest.allow.add(method);
  return null;
};

/** Tries the literal segment first, then the named one, then the rest of the path. */
const seek = <R extends Row>(
  at: Branch<R>,
  depth: number,
  values: readonly string[],
  quest: Quest,
): Match<R> | null => {
  const segment = quest.segments[depth];
  if (segment === undefined) return at.leaf && pick(at.leaf, values, quest);
  const literal = at.literals.get(segment);
  return (
    (literal && seek(literal, depth + 1, values, quest)) ??
    (at.any && segment !== '' ? seek(at.any, depth + 1, [...values, segment], quest) : null) ??
    (at.rest && pick(at.rest, [...values, quest.segments.slice(depth).join('/')], quest))
  );
};

/** Compiles the table once. HEAD is answered by GET's row. */
export const compileMatcher = <R extends Row>(routes: readonly R[]): Matcher<R> => {
  const root = branch<R>();
  /** Paths without parameters, which most calls are for. */
  const exact = new Map<string, Match<R>>();
  for (const row of routes) {
    if (!row.path.startsWith('/')) throw new Error(`The route ${row.path} does not begin with a slash.`);
    plant(root, row);
    if (!/[{}*]/.test(row.path)) exact.set(`${row.method} ${row.path}`, { route: row, params: noParams });
  }

  return (method, path) => {
    const asked = method === 'HEAD' ? 'GET' : method;
    const known = exact.get(`${asked} ${path}`);
    if (known) return known;

    const allow = new Set<string>();
    const found = seek(root, 0, [], { method: asked, segments: path.slice(1).split('/'), allow });
    if (found) return found;
    if (allow.has('GET')) allow.add('HEAD');
    return allow.size > 0 ? { allow: [...allow].sort() } : null;
  };
};
