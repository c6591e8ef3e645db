// A process that lives as `serve` does, with something in place of a gateway: node life-process.js MODE
import { liveUntilStopped } from '../../src/commands/life.js';

const [mode] = process.argv.slice(2);
const say = (_fields: object, message: string): void => void process.stdout.write(`${message}\n`);
const keepAlive = setInterval(() => {}, 1_000);

const living = liveUntilStopped(
  {
    drain: async () => {
      process.stdout.write('drain\n');
      if (mode === 'stuck' || mode === 'crash-stuck') await new Promise(() => {});
      if (mode === 'broken') throw new Error('no');
    },
    close: async () => void process.stdout.write('close\n'),
  },
  {
    log: { debug: say, info: say, warn: say, error: say },
    flush: () => {},
    onHangup: mode === 'terminal' ? null : () => void process.stdout.write('reload\n'),
  },
);
if (mode === 'crash')
  setTimeout(() => {
    throw new Error('unforeseen');
  }, 10);
if (mode === 'reject') void Promise.reject(new Error('unforeseen'));
process.stdout.write('living\n');
const code = await living;
clearInterval(keepAlive);
process.exit(code);
