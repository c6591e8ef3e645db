// npm run test:clients: the newest clients against a built gateway, on a Node as new as they need.
//   node test/clients/newest/run.mjs [FILTER...]      FILTER: part of a client file's name
// They are installed beside the compiled tests, not here: what lies under test/ is taken for the project's own.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED_NODE = 22;
const LISTEN_WAIT_MS = 30_000;
const APP_KEY = 'sk-test-app-key-of-the-newest-clients';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..', '..');
const built = join(root, 'dist', 'test', 'clients', 'newest');
const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_NODE;

build();
install();
const node = isNewEnough ? process.execPath : join(built, 'node_modules', '.bin', 'node');
const filters = process.argv.slice(2);
const files = readdirSync(built)
  .filter((name) => name.endsWith('.client.mjs'))
  .filter((name) => filters.length === 0 || filters.some((part) => name.includes(part)));
if (files.length === 0) stop('no client file matches');

const { startScriptedUpstream } = await import(
  pathToFileURL(join(root, 'dist/test/support/upstreams/serve.js'))
);
const { upstreamConfig } = await import(pathToFileURL(join(root, 'dist/test/clients/matrix.js')));
const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'));
const upstream = await startScriptedUpstream();
const gateway = await startGateway();
try {
  process.exitCode = await runTests();
} finally {
  gateway.kill();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

function build() {
  run('The build failed.', process.execPath, ['src/build.mjs', '--all', '--if-stale'], root);
  mkdirSync(built, { recursive: true });
  for (const name of readdirSync(built)) if (name.endsWith('.mjs')) rmSync(join(built, name));
  cpSync(here, built, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
}

// Again only when the lockfile has changed since. A Node comes along where this one is too old.
function install() {
  const lock = readFileSync(join(built, 'package-lock.json'), 'utf8');
  const stamp = join(built, 'node_modules', '.installed');
  const wanted = `${isNewEnough ? '' : 'with a Node\n'}${lock}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  // The project's engine-strict reaches npm's children, and would refuse what a newer Node is fetched for.
  const words = ['ci', '--no-audit', '--no-fund', '--engine-strict=false', '--loglevel=error'];
  if (isNewEnough) words.push('--omit=optional');
  const npm = process.env.npm_execpath;
  if (npm) run('npm ci failed.', process.execPath, [npm, ...words], built);
  else run('npm ci failed.', 'npm', words, built);
  writeFileSync(stamp, wanted);
}

async function startGateway() {
  const port = await freePort();
  const file = join(folder, 'gateway.yaml');
  const plenty = { id: '*', rpm: 1e6, rpd: 1e7, tpm: 1e12, concurrent: 1e4 };
  const config = {
    version: 1,
    server: { port },
    store: { path: ':memory:' },
    ...upstreamConfig(upstream.url),
    limits: { overrides: ['organization', 'project', 'key'].map((scope) => ({ scope, ...plenty })) },
    bootstrap: {
      organizations: [
        {
          id: 'org_clients',
          name: 'Clients',
          credits: 1_000_000,
          projects: [{ id: 'proj_clients', name: 'Clients', keys: [{ name: 'app', value: APP_KEY }] }],
        },
      ],
    },
  };
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const child = spawn(process.execPath, [join(root, 'dist/src/main.js'), 'serve', '--config', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  await new Promise((resolve, reject) => {
    let out = '';
    const timer = setTimeout(() => reject(new Error(`the gateway does not listen:\n${out}`)), LISTEN_WAIT_MS);
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}:\n${out}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (!out.includes('"listening"')) out += text;
      if (!out.includes('"listening"')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  return Object.assign(child, { url: `http://127.0.0.1:${port}` });
}

function runTests() {
  const child = spawn(node, ['--test', '--test-reporter=./report.mjs', ...files], {
    cwd: built,
    stdio: 'inherit',
    env: { ...process.env, SLUICE_URL: gateway.url, SLUICE_API_KEY: APP_KEY, UPSTREAM_URL: upstream.url },
  });
  return new Promise((resolve) => {
    child.on('error', (error) => stop(String(error)));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function run(fault, program, words, cwd) {
  const { status } = spawnSync(program, words, { cwd, stdio: 'inherit' });
  if (status !== 0) stop(fault);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
