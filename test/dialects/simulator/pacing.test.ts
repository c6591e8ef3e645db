import { getEventListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import t from 'tap';
import { readFrames } from '../encode/frames.js';
import { countDeltas, FORMATS, PATHS, requestOf, send, simulate } from './ask.js';
import { driveTime, settle } from './driven-time.js';

for (const format of FORMATS) {
  t.test(`D49 ${format}: the first byte comes after its time, then one token after the other`, async (t) => {
    const time = driveTime();
    const simulator = simulate({ ...time, ttftMs: 100, tokensPerSecond: 20 });
    const request = requestOf(format, '[[tokens=5]]', { stream: true });
    let answered = false;
    const answering = send(simulator, PATHS[format], request).then((answer) => {
      answered = true;
      return answer;
    });
    await time.advance(99);
    t.notOk(answered);
    await time.advance(1);
    const { body } = await answering;
    let text = '';
    body.on('data', (chunk) => (text += String(chunk)));
    await settle();
    t.equal(countDeltas(format, text), 1);
    for (let token = 2; token <= 4; token++) {
      await time.advance(49);
      t.equal(countDeltas(format, text), token - 1);
      await time.advance(1);
      t.equal(countDeltas(format, text), token);
    }
    t.notOk(body.readableEnded);
    await time.advance(50);
    t.equal(countDeltas(format, text), 5);
    t.ok(body.readableEnded);
    t.equal(time.waiting, 0);
  });

  t.test(`D49 ${format}: a whole answer comes when its last token would have`, async (t) => {
    const time = driveTime();
    const simulator = simulate({ ...time, ttftMs: 100, tokensPerSecond: 20 });
    let status = 0;
    const answering = send(simulator, PATHS[format], requestOf(format, '[[tokens=5]] [[stall=1s]]'));
    void answering.then((answer) => (status = answer.status));
    await time.advance(1_299);
    t.equal(status, 0);
    await time.advance(1);
    t.equal(status, 200);
    (await answering).body.resume();
    await settle();
    t.equal(time.waiting, 0);
  });

  t.test(
    `D49 ${format}: [[stall]] waits after the first token, [[ttft]] before the first byte`,
    async (t) => {
      const time = driveTime();
      const request = requestOf(format, '[[stall=5s]] [[ttft=2s]] [[tokens=4]]', { stream: true });
      const answering = send(simulate({ ...time, ttftMs: 10 }), PATHS[format], request);
      await time.advance(2_000);
      const { body } = await answering;
      let text = '';
      body.on('data', (chunk) => (text += String(chunk)));
      await time.advance(4_999);
      t.equal(countDeltas(format, text), 1);
      await time.advance(1);
      t.equal(countDeltas(format, text), 4);
      t.ok(body.readableEnded);
    },
  );
}

t.test('D49 a caller that leaves before the first byte is let go at once', async (t) => {
  const time = driveTime();
  const caller = new AbortController();
  const answering = send(
    simulate({ ...time, ttftMs: 1_000 }),
    PATHS.messages,
    requestOf('messages', 'hi', { stream: true }),
    caller.signal,
  );
  await settle();
  t.equal(time.waiting, 1);
  caller.abort();
  await t.rejects(answering, { name: 'UpstreamFault', kind: 'aborted' });
  t.equal(time.waiting, 0);
  t.equal(getEventListeners(caller.signal, 'abort').length, 0);
  await t.rejects(
    send(simulate(), PATHS.messages, requestOf('messages', 'hi'), AbortSignal.abort()),
    { name: 'UpstreamFault', kind: 'aborted' },
    'also when it had left before',
  );
});

for (const way of ['aborts', 'destroys the body'] as const)
  t.test(`D49 nothing stays when the caller ${way} in the middle of an answer`, async (t) => {
    const time = driveTime();
    const caller = new AbortController();
    const simulator = simulate({ ...time, tokensPerSecond: 10 });
    const request = requestOf('messages', '[[tokens=50]]', { stream: true });
    const { body } = await send(simulator, PATHS.messages, request, caller.signal);
    let text = '';
    body.on('data', (chunk) => (text += String(chunk)));
    await time.advance(250);
    const before = text;
    t.ok(readFrames(before).length > 3);
    t.equal(time.waiting, 1);
    if (way === 'aborts') caller.abort();
    else body.destroy();
    t.equal(time.waiting, 0);
    await time.advance(1_000);
    t.equal(text, before);
    t.ok(body.destroyed);
    t.equal(getEventListeners(caller.signal, 'abort').length, 0);
  });

t.test('D49 a simulator that closes takes no new call and lets the answers under way finish', async (t) => {
  const time = driveTime();
  const simulator = simulate({ ...time, tokensPerSecond: 10 });
  const request = requestOf('messages', '[[tokens=3]]', { stream: true });
  const { body } = await send(simulator, PATHS.messages, request);
  body.resume();
  let closed = false;
  const closing = simulator.close().then(() => (closed = true));
  await t.rejects(send(simulator, PATHS.messages, request), { name: 'UpstreamFault', kind: 'connect' });
  await time.advance(150);
  t.notOk(closed);
  await time.advance(100);
  t.ok(body.readableEnded);
  await closing;
  await simulator.close();
  await simulate().close();
});

t.test('D49 an answer read to its end leaves no listener behind', async (t) => {
  const caller = new AbortController();
  for (let i = 0; i < 3; i++) {
    const { body } = await send(simulate(), PATHS.chat, requestOf('chat', 'hi'), caller.signal);
    await finished(body.resume());
  }
  await settle();
  t.equal(getEventListeners(caller.signal, 'abort').length, 0);
});

t.test('D49 a break that nobody listens to does not end the process', async (t) => {
  const caller = new AbortController();
  const { body } = await send(simulate(), PATHS.chat, requestOf('chat', 'hi'), caller.signal);
  caller.abort();
  await settle();
  t.ok(body.destroyed);
});

t.test('D49 an answer is made only as fast as it is read', async (t) => {
  const request = requestOf('messages', '[[tokens=100000]]', { stream: true });
  const { body } = await send(simulate({ tokensPerSecond: Infinity }), PATHS.messages, request);
  let bytes = 0;
  let most = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes < 1_000_000) await settle(); // a slow reader: what could run ahead of it would do so now
    most = Math.max(most, body.readableLength);
  }
  t.ok(bytes > 10_000_000, `${bytes} bytes`);
  t.ok(most < 40_000, `${most} bytes held`);
});

t.test('D49 a break arrives after everything before it, however the body is read', async (t) => {
  const open = async (): Promise<Readable> =>
    (await send(simulate(), PATHS.chat, requestOf('chat', '[[tokens=900]] [[cut=700]]', { stream: true })))
      .body;
  const flowing = await open();
  let text = '';
  flowing.on('data', (chunk) => (text += String(chunk)));
  await t.rejects(finished(flowing), { name: 'UpstreamFault', kind: 'reset' });
  t.equal(readFrames(text).length, 700, 'flowing');

  const paused = await open();
  text = '';
  paused.on('readable', () => {
    let chunk: Buffer | null;
    while ((chunk = paused.read() as Buffer | null)) text += String(chunk);
  });
  await t.rejects(finished(paused), { name: 'UpstreamFault', kind: 'reset' });
  t.equal(readFrames(text).length, 700, 'paused');

  const slow = await open();
  text = '';
  slow.on('data', (chunk) => {
    text += String(chunk);
    slow.pause();
    setImmediate(() => slow.resume());
  });
  await t.rejects(finished(slow), { name: 'UpstreamFault', kind: 'reset' });
  t.equal(readFrames(text).length, 700, 'slow');
});
