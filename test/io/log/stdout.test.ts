import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import t from 'tap';

const logModule = new URL('../../../src/io/log/log.js', import.meta.url).href;

function run(body: string) {
  const script = `import { createLog } from ${JSON.stringify(logModule)};
    const log = createLog({ level: 'info', format: 'auto', version: '0' });
    ${body}`;
  return spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

t.test('every line written before the process ends reaches standard output', async (t) => {
  const child = run(`for (let i = 0; i < 500; i++) log.info({ count: i }, 'line'); process.exit(0);`);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  t.equal(lines.length, 500);
  t.match(JSON.parse(lines.at(-1)!), { count: 499, msg: 'line' });
});

t.test('a reader of the log that goes away does not end the process', async (t) => {
  const child = run(`
    let ticks = 0;
    const timer = setInterval(() => {
      log.info({}, 'line');
      if (++ticks < 200) return;
      clearInterval(timer);
      process.stderr.write('alive');
    }, 1);`);
  child.stdout.once('data', () => child.stdout.destroy());
  const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  t.equal(said, 'alive');
  t.equal(child.exitCode, 0);
});

t.test('6.4 a reader of the log that stops costs lines, never memory, and the loss is told', async (t) => {
  const child = run(`
    const text = 'x'.repeat(900);
    const heldMb = () => (gc(), (process.memoryUsage().heapUsed + process.memoryUsage().external) / 1e6);
    const started = heldMb();
    for (let i = 0; i < 60_000; i++) log.info({}, text);
    process.stderr.write(JSON.stringify({ grewMb: heldMb() - started }) + '\\n');`);
  const [report] = (await once(child.stderr, 'data')) as [Buffer];
  t.ok((JSON.parse(report.toString()) as { grewMb: number }).grewMb < 30, 'the 60 MB were not kept');
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  const loss = lines
    .map((line) => JSON.parse(line) as { dropped_lines?: number })
    .find((line) => line.dropped_lines);
  t.ok(loss, 'a line tells of the loss');
  t.equal(lines.length - 1 + (loss?.dropped_lines ?? 0), 60_000, 'every line is written or counted');
});
