import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configFrom } from '../support/configuration.js';
import { readRepositoryFile, repositoryRoot } from '../support/repository.js';

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

const instructions: readonly Instruction[] = readRepositoryFile('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line)!;
    return { name: name!, rest: rest!.trim() };
  });

const all = (name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ rest }) => rest);
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
const inLastStage = (name: string): string[] =>
  lastStage.filter((each) => each.name === name).map(({ rest }) => rest);

t.test('the image is built in two stages from one Node LTS image', async (t) => {
  t.same(all('FROM'), ['${NODE_IMAGE} AS build', '${NODE_IMAGE}']);
  t.match(all('ARG')[0], /^NODE_IMAGE=node:(22|24)-slim$/);
});

t.test('the image runs as a numbered user that is not root, and only its store is writable', async (t) => {
  t.match(inLastStage('USER'), [/^[1-9]\d*:[1-9]\d*$/]);
  t.same(inLastStage('VOLUME'), ['/var/lib/sluice']);
  const afterUser = lastStage.slice(lastStage.findIndex(({ name }) => name === 'USER'));
  t.notOk(
    afterUser.some(({ name }) => name === 'COPY' || name === 'RUN'),
    'nothing is owned by it',
  );
});

t.test('signals and arguments reach the program: commands are in exec form', async (t) => {
  const main = (JSON.parse(readRepositoryFile('package.json')) as { bin: { sluice: string } }).bin.sluice;
  t.same(JSON.parse(inLastStage('ENTRYPOINT')[0]!), ['node', main]);
  t.same(JSON.parse(inLastStage('CMD')[0]!), ['serve']);
  t.same(inLastStage('STOPSIGNAL'), ['SIGTERM']);
  t.same(JSON.parse(/CMD (\[.*\])$/.exec(inLastStage('HEALTHCHECK')[0]!)![1]!), [
    'node',
    main,
    'healthcheck',
  ]);
  t.same(inLastStage('EXPOSE'), ['8080']);
});

t.test(
  'dependencies come from the lock file, run no scripts, and development ones stay behind',
  async (t) => {
    const run = all('RUN').join('\n');
    t.match(run, /npm ci --ignore-scripts/);
    t.match(run, /npm prune --omit=dev --ignore-scripts/);
  },
);

t.test('what the image copies exists and is let through by .dockerignore', async (t) => {
  const allowed = readRepositoryFile('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  for (const copy of all('COPY').filter((rest) => !rest.startsWith('--from='))) {
    for (const source of copy.split(/\s+/).slice(0, -1)) {
      t.ok(existsSync(join(repositoryRoot, source)), `${source} exists`);
      t.ok(
        allowed.some((entry) => source === entry || source.startsWith(`${entry}/`)),
        `${source} is in the build's context`,
      );
    }
  }
});

t.test(
  'the configuration in the image is valid, is reached from outside and writes only to the volume',
  async (t) => {
    const file = all('COPY')
      .find((copy) => copy.endsWith(' /etc/sluice/gateway.yaml'))!
      .split(' ')[0]!;
    const { server, store, audit } = await configFrom(readRepositoryFile(file), { file });
    t.match(server, { host: '0.0.0.0', port: 8080 });
    t.match(store, { kind: 'embedded', path: '/var/lib/sluice' });
    t.match(audit.spool.path, /^\/var\/lib\/sluice\//);
  },
);
