export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly db?: number | undefined;
  readonly tls?: Record<string, never> | undefined;
}

/** Reads `redis://user:password@host:port/db`, `rediss://...` and bare `host:port`. */
export function parseRedisUrl(text: string, defaultPort = 6379): RedisAddress {
  let url: URL;
  try {
    url = new URL(/^[a-z]+:\/\//.test(text) ? text : `redis://${text}`);
  } catch {
    throw new Error('A Redis address is neither a redis:// or rediss:// URL nor host:port.');
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    throw new Error(`A Redis address begins with redis:// or rediss://, not ${url.protocol}//`);
  const db = url.pathname.slice(1);
  if (!/^\d*$/.test(db)) throw new Error(`"${db}" is not the number of a Redis database.`);
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(url.port) || defaultPort,
    ...pick({
      username: decodeURIComponent(url.username) || undefined,
      password: decodeURIComponent(url.password) || undefined,
      db: db === '' ? undefined : Number(db),
      tls: url.protocol === 'rediss:' ? {} : undefined,
    }),
  };
}

/** Leaves out what is undefined: ioredis tells an absent option from an undefined one. */
export function pick<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
