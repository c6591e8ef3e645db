import { parseConfig } from '../../src/config/load.js';
import type { Config } from '../../src/config/schema.js';

/** A configuration as the gateway would load it; its faults are thrown. */
export async function configFrom(
  text: string,
  { file = 'gateway.yaml', env = {} }: { readonly file?: string; readonly env?: Record<string, string> } = {},
): Promise<Config> {
  const loaded = await parseConfig(text, file, env);
  if ('config' in loaded) return loaded.config;
  throw new Error(
    loaded.faults
      .map(({ line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`)
      .join('\n'),
  );
}
