import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// node dist/bench/run.js [SUBJECT ...]: each file beside this one is a subject; none named = all, one after the other.
const folder = fileURLToPath(new URL('.', import.meta.url));
const subjects = readdirSync(folder)
  .filter((file) => /^[a-z-]+\.bench\.js$/.test(file))
  .map((file) => file.replace('.bench.js', ''));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((subject) => !subjects.includes(subject));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}. There are: ${subjects.join(', ')}.`);
  process.exit(2);
}
for (const subject of wanted.length > 0 ? wanted : subjects) {
  console.log(`\n# ${subject}`);
  const { run } = (await import(`./${subject}.bench.js`)) as { run: () => Promise<void> };
  await run();
}
