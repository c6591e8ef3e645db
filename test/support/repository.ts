import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function rootOf(path: string): string {
  const folder = dirname(path);
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(folder);
}

/** The repository's folder, wherever the compiled tests lie in it. */
export const repositoryRoot = rootOf(fileURLToPath(import.meta.url));

export const readRepositoryFile = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');
