import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { RedisClient } from './connect.js';

/** A script that stands in a .lua file beside its module. Every key it touches is among `keys`. */
export type Lua = (
  client: RedisClient,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

type Command = (this: RedisClient, ...args: readonly (string | number)[]) => Promise<unknown>;

/**
 * Reads the file once, behind the files it builds on; a client learns the script with its first call, by EVALSHA from
 * then on.
 */
export function loadLua(file: URL, ...before: readonly URL[]): Lua {
  const lua = [...before, file].map((part) => readFileSync(part, 'utf8')).join('\n');
  // The digest keeps two rooms apart that name their files alike.
  const digest = createHash('sha1').update(lua).digest('hex').slice(0, 8);
  const name = `${basename(file.pathname, '.lua')}_${digest}`;
  return (client, keys, args) => {
    const commands = client as unknown as Partial<Record<string, Command>>;
    if (!commands[name]) client.defineCommand(name, { lua });
    return commands[name]!.call(client, keys.length, ...keys, ...args);
  };
}
