import fc from 'fast-check';
import t from 'tap';
import { frame, frameText, heartbeat } from '../../../src/io/sse/encode.js';
import { Frame } from '../../../src/io/sse/frame.js';
import { EVENT_BOUND_BYTES, EventTooLarge, FrameScanner } from '../../../src/io/sse/scan.js';
import { Seeker } from '../../../src/io/sse/seek.js';
import { Splice } from '../../../src/io/sse/splice.js';

interface Seen {
  readonly event: string | null;
  readonly data: string | null;
}

const scan = (chunks: readonly (string | Buffer)[], scanner = new FrameScanner()): Frame[] => {
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    scanner.push(Buffer.from(chunk));
    for (let next = scanner.next(); next; next = scanner.next()) frames.push(next);
  }
  return frames;
};

const read = (...chunks: (string | Buffer)[]): Seen[] =>
  scan(chunks).map(({ event, data }) => ({ event, data }));

const bytesOf = (text: string | Buffer): Buffer[] =>
  Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));

t.test('an event has its name and its data', async (t) => {
  t.same(read('event: add\ndata: {"a":1}\n\n'), [{ event: 'add', data: '{"a":1}' }]);
});

t.test('one leading space is taken from a value, no more', async (t) => {
  t.same(read('event:add\ndata:  x\n\n'), [{ event: 'add', data: ' x' }]);
});

t.test('data lines are joined with a line feed', async (t) => {
  t.same(read('data: a\ndata:\ndata: b\n\n'), [{ event: null, data: 'a\n\nb' }]);
});

t.test('a field without a colon is an empty value', async (t) => {
  t.same(read('data\n\n'), [{ event: null, data: '' }]);
});

t.test('ids, retries, comments and unknown fields are no data', async (t) => {
  t.same(read(': hi\n\nid: 1\nretry: 5\ndataset: x\neventually: y\n\n'), [
    { event: null, data: null },
    { event: null, data: null },
  ]);
});

t.test('the last of two names counts', async (t) => {
  t.same(read('event: a\nevent: b\ndata: x\n\n'), [{ event: 'b', data: 'x' }]);
});

t.test('characters split between chunks come out whole', async (t) => {
  t.same(read(...bytesOf('data: 你好 😀 é\n\n')), [{ event: null, data: '你好 😀 é' }]);
});

t.test('bytes that are no UTF-8 become replacement characters and stay in the raw bytes', async (t) => {
  const bytes = Buffer.from([...Buffer.from('data: a'), 0xff, 0xc3, ...Buffer.from('\n\n')]);
  const [only] = scan([bytes]);
  t.equal(only?.data, 'a\ufffd\ufffd');
  t.same(only?.raw, bytes);
});

t.test('LF, CRLF and CR end a line alike, also when a CRLF is split between chunks', async (t) => {
  const expected = [
    { event: 'x', data: '1' },
    { event: null, data: '2' },
  ];
  for (const end of ['\n', '\r\n', '\r']) {
    const text = `event: x${end}data: 1${end}${end}data: 2${end}${end}`;
    t.same(read(text), expected, JSON.stringify(end));
    t.same(read(...bytesOf(text)), expected, `${JSON.stringify(end)}, byte by byte`);
  }
});

t.test('an event that ends in CR CR is there before the next chunk comes', async (t) => {
  const scanner = new FrameScanner();
  t.equal(scan(['data: 1\r\r'], scanner).length, 1);
  t.same(
    scan(['\ndata: 2\r\n\r\n'], scanner).map((next) => next.data),
    ['2'],
    'the LF behind it belongs to it',
  );
});

t.test('a byte order mark at the start is skipped, whole or split; later it is data', async (t) => {
  const bom = Buffer.from([0xef, 0xbb, 0xbf]);
  const text = Buffer.concat([bom, Buffer.from('data: 1\n\ndata: \ufeff\n\n')]);
  const expected = [
    { event: null, data: '1' },
    { event: null, data: '\ufeff' },
  ];
  t.same(read(text), expected);
  t.same(read(...bytesOf(text)), expected);
  t.same(read(...bytesOf(Buffer.from([0xef, 0xbb, 0x0a, 0x0a])))[0]?.data, null, 'half a mark is no mark');
});

t.test('whole events are ranges of the very bytes they came in', async (t) => {
  const chunk = Buffer.from('data: 1\n\ndata: 2\n\n');
  const scanner = new FrameScanner();
  scanner.push(chunk);
  t.equal(scanner.next()?.source, chunk);
  t.equal(scanner.next()?.source, chunk);
  t.equal(scanner.next(), null);
});

t.test('an event without its blank line is left over at the end, and only then', async (t) => {
  for (const tail of ['data: 2', 'data: 2\n']) {
    const scanner = new FrameScanner();
    t.equal(scan([`data: 1\n\n${tail}`], scanner).length, 1);
    const rest = scanner.rest();
    t.equal(rest?.data, '2');
    t.equal(rest?.raw.toString(), 'data: 2\n\n');
    t.equal(scanner.rest(), null);
  }
});

t.test(
  'D50 an event up to the bound is read, one byte more is a fault, in one chunk or in many',
  async (t) => {
    const ofSize = (bytes: number): Buffer => Buffer.from(`data: ${'x'.repeat(bytes - 8)}\n\n`);
    t.equal(EVENT_BOUND_BYTES, 8 * 1024 * 1024);
    for (const cut of [Infinity, 65_536, 1_000_003]) {
      const cutUp = (bytes: Buffer): Buffer[] => {
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += cut) chunks.push(bytes.subarray(at, at + cut));
        return chunks;
      };
      t.equal(scan(cutUp(ofSize(EVENT_BOUND_BYTES))).length, 1);
      t.throws(() => scan(cutUp(ofSize(EVENT_BOUND_BYTES + 1))), EventTooLarge);
    }
  },
);

t.test('events before the one that is too large still come', async (t) => {
  const scanner = new FrameScanner(10);
  scanner.push(Buffer.from('data: 1\n\ndata: 0123456789\n\n'));
  t.equal(scanner.next()?.data, '1');
  t.throws(() => scanner.next(), EventTooLarge);
});

t.test('an endless event in small pieces is refused at the bound', async (t) => {
  const scanner = new FrameScanner(100_000);
  let fed = 0;
  t.throws(() => {
    for (; fed < 200_000; fed++) scan(['x'], scanner);
  }, EventTooLarge);
  t.equal(fed, 100_000);
});

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        'data: ',
        'event: ',
        ':',
        ': c',
        'data',
        ' ',
        '{"a":',
        '\ufeff',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.from(parts.join('')));

const anyBytes = fc.oneof(
  anyText,
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

t.test('any bytes in any chunks give the same events, and never more than the bound holds', async () => {
  const readAll = (chunks: readonly Buffer[]): unknown[] => {
    const scanner = new FrameScanner(64);
    const seen: unknown[] = [];
    try {
      for (const chunk of chunks) {
        scanner.push(chunk);
        for (let next = scanner.next(); next; next = scanner.next()) {
          if (next.end - next.start > 64) throw new Error('over the bound');
          seen.push([next.event, next.data, next.raw.toString('hex')]);
        }
      }
      const rest = scanner.rest();
      if (rest) seen.push(['rest', rest.event, rest.data, rest.raw.toString('hex')]);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      seen.push('too large');
    }
    return seen;
  };
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }), (bytes, lengths) => {
      const chunks: Buffer[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const length = lengths[i % lengths.length]! + (i % lengths.length === 0 ? 1 : 0);
        chunks.push(bytes.subarray(at, at + length));
        at += length;
      }
      return JSON.stringify(readAll(chunks)) === JSON.stringify(readAll([bytes]));
    }),
    { numRuns: 2_000 },
  );
});

t.test('the frames of a plain stream put together are the stream', async () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, length) => {
      const plain = Buffer.from(text.toString().replaceAll('\r', '').replaceAll('\ufeff', ''));
      const scanner = new FrameScanner();
      const out = new Splice();
      const pieces: Buffer[] = [];
      for (let at = 0; at < plain.length; at += length) {
        scanner.push(plain.subarray(at, at + length));
        for (let next = scanner.next(); next; next = scanner.next()) out.keep(next);
        pieces.push(out.take() ?? Buffer.alloc(0));
      }
      const rest = scanner.rest();
      const whole = Buffer.concat([...pieces, rest?.raw ?? Buffer.alloc(0)]).toString();
      return whole === plain.toString() || (rest !== null && whole.trimEnd() === plain.toString().trimEnd());
    }),
  );
});

t.test('neighbours that stay leave as one slice, and a chunk that stays whole as itself', async (t) => {
  const chunk = Buffer.from('data: 1\n\ndata: 2\n\ndata: 3\n\n');
  const out = new Splice();
  const [one, two, three] = scan([chunk]) as [Frame, Frame, Frame];
  for (const next of [one, two, three]) out.keep(next);
  t.equal(out.take(), one.source);
  t.equal(out.take(), null);
  out.keep(one);
  out.put('data: new\n\n');
  out.keep(three);
  t.equal(out.take()?.toString(), 'data: 1\n\ndata: new\n\ndata: 3\n\n');
  out.keep(one);
  out.keep(three);
  t.equal(out.take()?.toString(), 'data: 1\n\ndata: 3\n\n', 'what was not kept is gone');
});

t.test('a seeker finds its text in the frame it is asked for, not in its neighbours', async (t) => {
  const seeker = new Seeker('key');
  const [one, two, three] = scan(['data: no\n\ndata: key\n\ndata: key key\n\n']) as [Frame, Frame, Frame];
  t.equal(seeker.in(one), -1);
  t.equal(seeker.in(two), two.start + 6);
  t.equal(seeker.behindOnly(two), two.start + 9);
  t.equal(seeker.behindOnly(three), -1, 'twice is not once');
  t.equal(seeker.in(Frame.of(Buffer.from('data: key\n\n'))), 6);
});

t.test('what is written is LF only, with its blank line', async (t) => {
  t.equal(
    frame('ping', { type: 'ping', text: 'a\r\nb' }),
    'event: ping\ndata: {"type":"ping","text":"a\\r\\nb"}\n\n',
  );
  t.equal(frame(null, { a: 1 }), 'data: {"a":1}\n\n');
  t.equal(frameText(null, '[DONE]'), 'data: [DONE]\n\n');
  t.equal(heartbeat.toString(), ': ping\n\n');
});
