/** Where a provider is. Its query parameters belong to the operator, so a caller's own of the same name gives way. */
export interface Address {
  readonly origin: string;
  /** The full request target for a path below the base address; the path may carry a query. */
  readonly target: (path: string) => string;
}

export const createAddress = (baseUrl: string, query: Readonly<Record<string, string>>): Address => {
  const url = new URL(baseUrl);
  const prefix = url.pathname.replace(/\/+$/, '');
  const fixed = [...new URLSearchParams(query)];
  const suffix = new URLSearchParams(query).toString();
  return {
    origin: url.origin,
    target: (path) => {
      const mark = path.indexOf('?');
      if (mark < 0) return suffix === '' ? prefix + path : `${prefix}${path}?${suffix}`;
      const merged = new URLSearchParams(path.slice(mark + 1));
      for (const [name, value] of fixed) merged.set(name, value);
      return `${prefix}${path.slice(0, mark)}?${merged.toString()}`;
    },
  };
};

/** A public path as one below the base address: `/v1/embeddings` under `https://host/v1` is `/embeddings`. */
export const pathBelow = (baseUrl: string, publicPath: string): string => {
  const last = /\/[^/]+(?=\/*$)/.exec(new URL(baseUrl).pathname)?.[0];
  return last !== undefined && publicPath.startsWith(`${last}/`) ? publicPath.slice(last.length) : publicPath;
};
