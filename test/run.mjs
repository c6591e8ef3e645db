// npm test: builds everything, makes sure of a Redis, runs every test file, two at a time, each in a process of its own.
//   node test/run.mjs [--long] [--jobs N] [FILTER...]      FILTER: part of a test file's path
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findUnseen, forgetSeen } from './openapi/coverage.mjs';
import { findProgram, installCommand, installOnDebian } from './support/packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, jobs: { type: 'string', default: '2' } },
});
const FILE_TIMEOUT_MS = options.long ? 60 * 60_000 : 4 * 60_000;
const LEFTOVER_WAIT_MS = 3_000;

if (!existsSync(join(root, 'node_modules', 'tap'))) stop('The dependencies are not installed. Run: npm ci');
provideRedis();
providePrometheus();
if (spawnSync(process.execPath, ['src/build.mjs', '--all'], { cwd: root, stdio: 'inherit' }).status !== 0)
  stop('The build failed.');
const { Parser } = await import('tap-parser');

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    for (const pid of running) endGroup(pid);
    process.exit(1);
  });

const startedMs = Date.now();
const files = listTests();
const total = { passed: 0, failed: 0, skipped: 0 };
const failedFiles = [];
const queue = [...files];
forgetSeen(root);
await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs) || 1) }, takeFiles));

if (failedFiles.length > 0) console.log(`\nfailed:\n${failedFiles.map((file) => `  ${file}`).join('\n')}`);
if (files.length === 0) console.log('no test file matches');
if (filters.length === 0 && !options.long) reportUnseen();
console.log(
  `\n${files.length} files, ${total.skipped} skipped, ${((Date.now() - startedMs) / 1_000).toFixed(0)} s`,
);
console.log(`tests: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

// Only a whole run can tell that nothing produces a status which docs/openapi.json promises.
function reportUnseen() {
  const unseen = findUnseen(root);
  total.failed += unseen.length;
  for (const pair of unseen) console.log(`not ok: no test produced the documented status: ${pair}`);
}

function provideRedis() {
  const find = () => findProgram('redis-server', 'valkey-server');
  if (find() || (installOnDebian(['redis-server']) && find())) return;
  const command = installCommand({ apt: 'redis-server', dnf: 'valkey', apk: 'redis', brew: 'redis' });
  stop(`The tests need a Redis server, and none is on PATH. Run:\n\n  ${command}\n`);
}

// Only the scrape test needs it: where it cannot be had, that test is skipped and says why.
function providePrometheus() {
  if (findProgram('prometheus') || installOnDebian(['prometheus'])) return;
  const command = installCommand({
    apt: 'prometheus',
    dnf: 'golang-github-prometheus',
    apk: 'prometheus',
    brew: 'prometheus',
  });
  console.log(`prometheus is not on PATH: its scrape test is skipped. To run it: ${command}`);
}

// From the sources, so that a deleted test's compiled remains do not run.
function listTests() {
  const ending = options.long ? '.long.ts' : '.test.ts';
  return readdirSync(join(root, 'test'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)))
    .sort();
}

async function takeFiles() {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const report = await runFile(file);
    total.passed += report.passed;
    total.failed += report.failures.length;
    total.skipped += report.skipped.length;
    if (report.failures.length > 0) failedFiles.push(file);
    print(file, report);
  }
}

/** Runs one file, reads its TAP, and adds a failure for whatever TAP does not tell: a crash, a hang, a process left behind. */
async function runFile(file) {
  const report = { passed: 0, failures: [], skipped: [], remarks: [], noise: '', seconds: 0 };
  const fail = (name, diagnosis = {}) => report.failures.push({ fullname: name, diag: diagnosis });
  const begunMs = Date.now();
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', '--expose-gc', join('dist', file.replace(/\.ts$/, '.js'))],
    {
      cwd: root,
      detached: true, // a process group of its own, so that nothing it starts can outlive it
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TAP_TIMEOUT: String(FILE_TIMEOUT_MS / 1_000 - 5),
      },
    },
  );
  running.add(child.pid);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child.pid);
  }, FILE_TIMEOUT_MS);

  const parser = new Parser();
  parser.on('pass', () => report.passed++);
  parser.on('fail', (result) => report.failures.push(result));
  parser.on('skip', (result) => report.skipped.push(result));
  parser.on('extra', (text) => keepNoise(report, text));
  if (options.long) followRemarks(parser, report);
  child.stderr.setEncoding('utf8').on('data', (text) => keepNoise(report, text));
  const parsed = new Promise((resolve) => parser.on('complete', resolve));
  child.stdout.pipe(parser);
  const [code, signal] = await new Promise((resolve) => {
    child.on('error', (error) => resolve([error.message, null]));
    child.on('exit', (...ending) => resolve(ending));
  });
  clearTimeout(timer);
  if (!(await groupEnds(child.pid)) && !timedOut) fail('the file left a process running behind it');
  endGroup(child.pid);
  running.delete(child.pid);
  const results = await parsed;
  const { skipAll, skipReason } = results.plan;
  if (skipAll && skipReason && skipReason !== 'no tests found')
    report.skipped.push({ fullname: 'the whole file', skip: skipReason });

  if (timedOut) fail(`the file did not end within ${FILE_TIMEOUT_MS / 1_000} s`);
  else if (report.failures.length === 0 && code !== 0)
    fail(`the file ended with ${signal ?? `exit code ${code}`}`);
  else if (report.failures.length === 0 && !results.ok)
    fail('the output is not whole TAP', results.failures[0] ?? {});
  else if (report.failures.length + report.passed + report.skipped.length === 0) fail('the file ran no test');
  report.seconds = (Date.now() - begunMs) / 1_000;
  return report;
}

/** Long runs measure, and say so in comments. */
function followRemarks(parser, report) {
  parser.on('child', (child) => followRemarks(child, report));
  parser.on('comment', (text) => {
    if (!/^# (Subtest|time=|failed|passed)/.test(text)) report.remarks.push(text.trim());
  });
}

function keepNoise(report, text) {
  if (report.noise.length < 20_000) report.noise += text;
}

function print(file, { passed, failures, skipped, remarks, noise, seconds }) {
  const counts = `${passed} passed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}, ${seconds.toFixed(1)} s`;
  console.log(`${failures.length === 0 ? 'ok    ' : 'FAILED'} ${file} (${counts})`);
  for (const remark of remarks) console.log(`       ${remark}`);
  for (const { fullname, skip } of skipped)
    console.log(`       skipped: ${fullname}${typeof skip === 'string' ? `: ${skip}` : ''}`);
  for (const { fullname, diag } of failures) {
    console.log(`\n  not ok: ${fullname}`);
    const { at, diff, found, wanted, error, message, stack, tapError, reason } = diag ?? {};
    if (at) console.log(`    at ${at.fileName}:${at.lineNumber}`);
    for (const part of [
      reason,
      tapError,
      message,
      error,
      diff,
      !diff && pair(found, wanted),
      ownFrames(stack),
    ])
      if (part) console.log(indent(typeof part === 'string' ? part : JSON.stringify(part, null, 2)));
  }
  if (failures.length > 0 && noise.trim() !== '')
    console.log(`\n  what it printed:\n${indent(noise.trim())}\n`);
}

function pair(found, wanted) {
  return found === undefined && wanted === undefined ? null : { found, wanted };
}

function ownFrames(stack) {
  return stack
    ?.split('\n')
    .filter((frame) => !frame.includes('node_modules') && !frame.includes('node:internal'))
    .join('\n');
}

function indent(text) {
  return text.replace(/^/gm, '    ').trimEnd();
}

async function groupEnds(pid) {
  for (const untilMs = Date.now() + LEFTOVER_WAIT_MS; Date.now() < untilMs;) {
    try {
      process.kill(-pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // already gone
  }
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
