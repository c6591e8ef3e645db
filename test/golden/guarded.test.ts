import t from 'tap';
import { cutInto, goldenBytes, goldens, replayGolden } from './replay.js';
import { scriptGuard } from '../support/guards.js';

const title = ({ dialect, name }: (typeof goldens)[number]): string => `${dialect} ${name}`;

/** The number of an error event is that behind the last event sent, or behind the one that could not be read. */
const unnumbered = (bytes: Buffer): string =>
  bytes.toString().replace(/("type":"error".*"sequence_number":)\d+/, '$1');

t.test('D38 a guarded answer that nobody objects to leaves as it came', async (t) => {
  for (const golden of goldens) {
    const input = goldenBytes(golden, 'in');
    const plain = await replayGolden(golden, cutInto(input, [97]));
    for (const [name, script] of [
      ['at once', {}],
      ['some of it late', { holds: 9 }],
      ['all of it at the end', { holds: Infinity }],
      ['someone being asked', { asks: true }],
    ] as const) {
      const seen = await replayGolden(golden, cutInto(input, [97]), scriptGuard(script));
      t.equal(unnumbered(seen.output), unnumbered(plain.output), `${title(golden)}, ${name}`);
      t.match(
        seen,
        { settled: plain.settled, truncated: plain.truncated, usage: plain.usage },
        title(golden),
      );
    }
  }
});

t.test('D38 an answer that is stopped ends as its format refuses, and costs what left', async (t) => {
  for (const golden of goldens.filter(({ name }) => name === 'text' || name === 'tools')) {
    const input = goldenBytes(golden, 'in');
    const heard = scriptGuard();
    await replayGolden(golden, cutInto(input, [97]), heard);
    for (const stopsAt of [0, 1, Math.floor(heard.text.length / 2), heard.text.length - 1]) {
      const guard = scriptGuard({ stopsAt });
      const { output, done, settled, truncated } = await replayGolden(golden, cutInto(input, [97]), guard);
      t.match({ done, settled, truncated }, { done: true, settled: 1, truncated: 0 });
      const text = output.toString();
      t.match(text, ENDINGS[golden.dialect], `${title(golden)} at ${stopsAt}`);
    }
  }
});

const ENDINGS = {
  messages:
    /"stop_reason":"refusal".*Blocked\..*"estimated_credits_used":12.*event: message_stop\ndata: .*\n\n$/s,
  chat: /"refusal":"Blocked\.".*"finish_reason":"content_filter".*data: \[DONE\]\n\n$/s,
  responses: /"refusal":"Blocked\.".*event: response\.incomplete\n.*"reason":"content_filter".*\n\n$/s,
};
