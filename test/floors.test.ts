import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { readRepositoryFile as read, repositoryRoot as root } from './support/repository.js';

const LINES_BOUND = 280;

/** Where a file lives. Rooms of one floor never import each other; imports go down only. */
interface Place {
  readonly floor: number;
  readonly room: string;
}

function placeOf(file: string): Place {
  const [, folder = '', second = ''] = file.split('/');
  switch (folder) {
    case 'core':
      return { floor: 0, room: 'core' };
    case 'config': // describes the file; what it describes is built elsewhere
      return { floor: 1, room: 'config' };
    case 'text': // what can be read out of text, whoever asks
      return { floor: 1, room: 'text' };
    case 'io':
      return { floor: 1, room: second.includes('.') ? 'io' : `io/${second}` };
    case 'dialects':
      return { floor: 2, room: 'dialects' };
    case 'rules':
      return { floor: 2, room: second.includes('.') ? 'rules' : `rules/${second}` };
    case 'endpoints':
      return { floor: 3, room: 'endpoints' };
    default: // serve, routes, gateway, main, commands, console
      return { floor: 4, room: 'top' };
  }
}

const sidewaysAllowed = new Set(['io/records -> io/redis']);

function faultOf(from: string, to: string): string | null {
  const [a, b] = [placeOf(from), placeOf(to)];
  if (a.room === b.room) return null;
  if (a.room === 'config' && b.room !== 'core') return 'the configuration imports only core';
  if (b.room === 'config' && a.floor < 4) return 'rooms receive options, not the configuration';
  if (b.floor > a.floor) return 'upward';
  if (b.floor === a.floor && !sidewaysAllowed.has(`${a.room} -> ${b.room}`)) return 'sideways';
  return null;
}

const sources = filesBelow('src').filter((file) => file.endsWith('.ts'));

t.test('imports go down only, and rooms of one floor never import each other', async (t) => {
  for (const file of sources) {
    const faults = importsOf(file).flatMap((target) => {
      const fault = faultOf(file, target);
      return fault === null ? [] : [`${fault}: ${target}`];
    });
    t.same(faults, [], file);
  }
});

t.test('the rule itself finds what it must', async (t) => {
  t.equal(faultOf('src/core/log.ts', 'src/io/log/log.ts'), 'upward');
  t.equal(faultOf('src/io/sse/scan.ts', 'src/io/http/body.ts'), 'sideways');
  t.equal(faultOf('src/io/records/redis.ts', 'src/io/redis/connect.ts'), null);
  t.equal(faultOf('src/io/redis/connect.ts', 'src/io/records/records.ts'), 'sideways');
  t.equal(faultOf('src/rules/auth/authenticate.ts', 'src/rules/limits/limiter.ts'), 'sideways');
  t.equal(faultOf('src/rules/auth/authenticate.ts', 'src/dialects/dialect.ts'), 'sideways');
  t.equal(faultOf('src/endpoints/messages.ts', 'src/rules/auth/authenticate.ts'), null);
  t.equal(faultOf('src/endpoints/messages.ts', 'src/serve.ts'), 'upward');
  t.ok(faultOf('src/config/load.ts', 'src/io/log/log.ts'));
  t.ok(faultOf('src/endpoints/messages.ts', 'src/config/load.ts'));
  t.equal(faultOf('src/gateway.ts', 'src/config/load.ts'), null);
  t.same(
    importsIn(
      'src/io/sse/x.ts',
      `import a from '../http/y.js'; export * from "./z.js"; await import('../../core/w.js');`,
    ),
    ['src/io/http/y.ts', 'src/io/sse/z.ts', 'src/core/w.ts'],
  );
});

t.test('only the configuration and the commands read the environment', async (t) => {
  const readers = sources.filter((file) =>
    /\bprocess\s*\.\s*env\b|\benv\b.*from 'node:process'/.test(read(file)),
  );
  t.same(
    readers.filter((file) => !/^src\/(config|commands)\/|^src\/main\.ts$/.test(file)),
    [],
  );
});

t.test('a reader holds every file in the head', async (t) => {
  const files = [...sources, ...filesBelow('src').filter((file) => file.endsWith('.lua'))];
  const long = files
    .map((file) => ({ file, lines: read(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > LINES_BOUND);
  t.same(long, [], `no file has more than ${LINES_BOUND} lines`);
});

t.test(
  'every Lua script lies beside the module of the same name, and says its KEYS and ARGV first',
  async (t) => {
    for (const file of filesBelow('src').filter((name) => name.endsWith('.lua'))) {
      const folder = dirname(file);
      const siblings = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
      const beside =
        existsSync(join(root, file.replace(/\.lua$/, '.ts'))) ||
        siblings.some((name) => read(join(folder, name)).includes(file.slice(folder.length + 1)));
      t.ok(beside, `${file} has its module`);
      t.match(read(file), /^--/, `${file} opens with a comment`);
    }
  },
);

t.test('no module is called utils, helpers, common, manager or service', async (t) => {
  t.same(
    filesBelow('src').filter((file) => /\b(utils?|helpers?|common|managers?|services?)\b/.test(file)),
    [],
  );
});

t.test('file names are kebab-case', async (t) => {
  t.same(
    sources.filter((file) => !/^[a-z0-9/-]+\.ts$/.test(file)),
    [],
  );
});

function importsOf(file: string): string[] {
  return importsIn(file, read(file));
}

/** The project's own files that a source imports, by any kind of import. */
function importsIn(file: string, text: string): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => join(dirname(file), name).replace(/\.js$/, '.ts'));
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
