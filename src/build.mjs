// Compiles to dist/ and puts the .lua and .sql sources beside the modules that read them.
//   node src/build.mjs [--if-stale] [--all]      --all: tests and benchmarks too
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const all = process.argv.includes('--all');
const stamp = join(root, 'dist', all ? 'all.stamp' : 'src.stamp');
const sources = ['src', ...(all ? ['test', 'bench'] : [])].flatMap((folder) =>
  filesBelow(join(root, folder)),
);

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0);

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
rmSync(stamp, { force: true });
try {
  execFileSync(process.execPath, [tsc, '-p', all ? root : join(root, 'src')], { stdio: 'inherit' });
} catch {
  process.exit(1);
}
for (const file of sources.filter((name) => /\.(lua|sql)$/.test(name))) {
  const target = join(root, 'dist', file.slice(root.length + 1));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(file, target);
}
writeFileSync(stamp, '');

function isFresh() {
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return sources.every((file) => statSync(file).mtimeMs <= built);
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|lua|sql|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
