import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.js';
import { watchConfig } from '../../src/config/reload.js';
import type { Config } from '../../src/config/schema.js';
import type { Log } from '../../src/core/log.js';

const withPort = (port: number | string): string => `version: 1\nserver: { port: ${port} }\n`;

/** A watched file: what was applied, what was logged, and a way to wait for either. */
async function watch(t: Test, file: string, apply?: (config: Config) => void) {
  const ports: number[] = [];
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    const { line, column, what } = fields as { line?: number; column?: number; what?: string[] };
    lines.push([level, line && `${line}:${column ?? 0}`, message, what?.join()].filter(Boolean).join(' '));
  };
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const loaded = await loadConfig(file, {});
  if ('faults' in loaded) throw new Error('faults');
  const reloader = watchConfig(loaded, {
    file,
    environment: {},
    log,
    everyMs: 5,
    onFaults: () => lines.push('told of faults'),
    apply: async (config) => {
      apply?.(config);
      ports.push(config.server.port);
    },
  });
  t.teardown(() => reloader.close());
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await sleep(2);
  };
  return {
    ports,
    lines,
    reloader,
    // Several looks, the first reading of the file among them.
    untilQuiet: () => sleep(60),
    untilPort: (port: number) => until(() => ports.at(-1) === port),
    untilLine: (part: string) => until(() => lines.some((line) => line.includes(part))),
  };
}

t.test('D46 a file replaced by renaming another over it takes effect', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': withPort(1) });
  const file = join(folder, 'gateway.yaml');
  const { untilPort } = await watch(t, file);
  for (const port of [2, 3]) {
    writeFileSync(join(folder, 'next'), withPort(port));
    renameSync(join(folder, 'next'), file);
    await untilPort(port);
  }
});

t.test('D46 a file written in place takes effect', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': withPort(1) }), 'gateway.yaml');
  const { untilPort } = await watch(t, file);
  writeFileSync(file, withPort(4));
  await untilPort(4);
});

t.test('D46 a Kubernetes ConfigMap, whose links are swapped, takes effect', async (t) => {
  const folder = t.testdir({
    '..one': { 'gateway.yaml': withPort(1) },
    '..two': { 'gateway.yaml': withPort(2) },
  });
  symlinkSync('..one', join(folder, '..data'));
  symlinkSync(join('..data', 'gateway.yaml'), join(folder, 'gateway.yaml'));
  const { untilPort, ports } = await watch(t, join(folder, 'gateway.yaml'));
  symlinkSync('..two', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  rmSync(join(folder, '..one'), { recursive: true });
  await untilPort(2);
  t.strictSame(ports, [2]);
});

t.test(
  'D46 a bad file leaves the old configuration in force and says why; a good one then takes effect',
  async (t) => {
    const file = join(t.testdir({ 'gateway.yaml': withPort(1) }), 'gateway.yaml');
    const { ports, lines, untilLine, untilPort } = await watch(t, file);
    writeFileSync(file, `${withPort('many')}stor: {}\n`);
    await untilLine('the old one stays in force');
    t.match(lines, [
      'error 2:17 server.port: must be a number',
      'error 3:1 stor: is not a known key; did you mean store?',
      'error the configuration has faults; the old one stays in force',
      'told of faults',
    ]);
    t.strictSame(ports, []);
    writeFileSync(file, withPort(5));
    await untilPort(5);
  },
);

t.test('D46 a deleted file leaves the old configuration in force, and its return takes effect', async (t) => {
  const folder = t.testdir({ inner: { 'gateway.yaml': withPort(1) } });
  const file = join(folder, 'inner', 'gateway.yaml');
  const { ports, untilLine, untilPort } = await watch(t, file);
  rmSync(join(folder, 'inner'), { recursive: true });
  await untilLine('cannot be read (ENOENT)');
  t.strictSame(ports, []);
  mkdirSync(join(folder, 'inner'));
  writeFileSync(file, withPort(6));
  await untilPort(6);
});

t.test('D46 a change made between loading and watching is not lost', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': withPort(1) }), 'gateway.yaml');
  const watching = watch(t, file);
  const { untilPort } = await watching;
  writeFileSync(file, withPort(7));
  await untilPort(7);
});

t.test('D46 a configuration that cannot be taken into use leaves the old one in force', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': withPort(1) }), 'gateway.yaml');
  const { reloader, lines, ports } = await watch(t, file, () => {
    throw new Error('no');
  });
  writeFileSync(file, withPort(8));
  t.equal(await reloader.reload(), 'kept');
  t.match(lines.join('\n'), /could not be taken into use/);
  t.strictSame(ports, []);
});

t.test('D46 SIGHUP reads secrets in files anew', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': 'version: 1\nserver: { port: "${file:port}" }\n',
    port: '1\n',
  });
  const { reloader, ports, untilPort } = await watch(t, join(folder, 'gateway.yaml'));
  writeFileSync(join(folder, 'port'), '9\n');
  t.equal(await reloader.reload(), 'applied');
  t.strictSame(ports, [9]);
  writeFileSync(join(folder, 'port'), '10\n');
  await untilPort(10);
});

t.test('D46 a renewed certificate takes effect although no word of the configuration changed', async (t) => {
  const folder = t.testdir({
    'gateway.yaml': withPort(1).replace(' }', ', tls: { cert: cert.pem, key: key.pem } }'),
    'cert.pem': 'old',
    'key.pem': 'old',
  });
  const { ports, untilPort, untilQuiet } = await watch(t, join(folder, 'gateway.yaml'));
  await untilQuiet();
  t.strictSame(ports, [], 'nothing is applied while nothing changes');
  writeFileSync(join(folder, 'cert.pem'), 'renewed');
  await untilPort(1);
});

t.test('D46 what needs a restart is said', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': withPort(1) }), 'gateway.yaml');
  const { reloader, lines } = await watch(t, file);
  writeFileSync(file, `${withPort(2)}store: { path: elsewhere }\n`);
  await reloader.reload();
  t.match(lines.join('\n'), /warn these changes wait for a restart server\.port,store/);
});
