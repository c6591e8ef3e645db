// Which documented statuses no test of the last run has produced: `test/support/openapi.ts` notes those it sees.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export function forgetSeen(root) {
  rmSync(join(root, 'dist', 'seen'), { recursive: true, force: true });
}

export function findUnseen(root) {
  const folder = join(root, 'dist', 'seen');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const seen = new Set(files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')));
  const { paths } = JSON.parse(readFileSync(join(root, 'docs', 'openapi.json'), 'utf8'));
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    )
    .filter((pair) => /\d{3}$/.test(pair) && !seen.has(pair));
}
