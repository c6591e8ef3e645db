import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { until } from '../support/gateway.js';
import { start } from './sluice.js';

const SCRIPT = fileURLToPath(new URL('./life-process.js', import.meta.url));

async function live(t: Test, mode: string) {
  const running = start(SCRIPT, [mode]);
  t.teardown(() => void running.child.kill('SIGKILL'));
  const says = (text: string): Promise<void> => until(() => running.out().includes(text), text);
  await says('living');
  return { ...running, says };
}

t.test('D45 SIGTERM and SIGINT drain, close and exit 0', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, finished } = await live(t, 'plain');
    child.kill(signal);
    const { code, out } = await finished;
    t.equal(code, 0);
    t.match(out, /drain\nclose\n$/);
  }
});

t.test('D45 a second signal ends a drain that does not', async (t) => {
  const { child, says, finished } = await live(t, 'stuck');
  child.kill('SIGTERM');
  await says('drain\n');
  child.kill('SIGTERM');
  t.match(await finished, { code: 1, out: /a second signal: leaving at once/ });
});

t.test('D46 SIGHUP reloads; without a file it ends, as closing a terminal does', async (t) => {
  const reloading = await live(t, 'plain');
  reloading.child.kill('SIGHUP');
  await reloading.says('reload');
  reloading.child.kill('SIGTERM');
  t.match(await reloading.finished, { code: 0 });
  const attached = await live(t, 'terminal');
  attached.child.kill('SIGHUP');
  t.match(await attached.finished, { code: 0, out: /drain\nclose/ });
});

t.test('an error nobody caught is logged, and the process exits 1 after a drain', async (t) => {
  for (const mode of ['crash', 'reject']) {
    const { finished } = await live(t, mode);
    t.match(
      await finished,
      { code: 1, out: /an error nobody caught; the process ends\ndrain\nclose\n$/ },
      mode,
    );
  }
});

t.test('a drain that fails exits 1, and everything is closed all the same', async (t) => {
  const { child, finished } = await live(t, 'broken');
  child.kill('SIGTERM');
  t.match(await finished, { code: 1, out: /draining failed\nclose\n$/ });
});
