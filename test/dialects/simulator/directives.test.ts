import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { Json } from '../../../src/dialects/dialect.js';
import { readDirectives } from '../../../src/dialects/simulator/directives.js';
import { splitTokens } from '../../../src/dialects/simulator/words.js';
import { readFrames } from '../encode/frames.js';
import { ask, countDeltas, FORMATS, hear, outputTokens, PATHS, requestOf, send, simulate } from './ask.js';

t.test('D49 directives are read where they stand, and only the sensible ones', async (t) => {
  t.match(readDirectives('please [[tokens=200]] and [[stall=5s]], [[ttft=250ms]] [[cut=3]]'), {
    tokens: 200,
    stallMs: 5_000,
    ttftMs: 250,
    cut: 3,
    say: null,
  });
  t.strictSame(readDirectives('[[tool=a]][[tool= b ]]').tools, ['a', 'b']);
  t.equal(readDirectives('[[say=list [1, 2]]]').say, 'list [1, 2]');
  t.equal(readDirectives('[[say=]]').say, '');
  t.equal(readDirectives('[[say=two\nlines, a=b]]').say, 'two\nlines, a=b');
  t.match(readDirectives('[[tokens=0]] [[tokens=-1]] [[status=200]] [[stall=soon]] [[cut=x]] [[nope=1]]'), {
    tokens: null,
    status: null,
    stallMs: 0,
    cut: null,
  });
  t.equal(readDirectives('[[stall=40d]]').stallMs, 3_600_000, 'a wait has a bound');
  t.equal(readDirectives('[[[[say=x').say, null);
});

t.test('D49 reading directives takes one walk over any text', async (t) => {
  const text = '[[say='.repeat(200_000);
  t.equal(readDirectives(text).say, null);
  t.ok(readDirectives(`${text}]]`));
});

t.test('D49 the tokens of a text join to that text', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      assert.equal(splitTokens(text).join(''), text);
      assert.ok(splitTokens(text).every((token) => token !== ''));
    }),
  );
  t.ok(splitTokens('Unbelievably extraordinary news, friends').length >= 5);
});

for (const format of FORMATS) {
  t.test(`D49 ${format}: [[say]] answers exactly that`, async (t) => {
    const text = 'Grüße, 世界! 👩‍🚀 “fine”\n\n  indented\ttabs\u2028 ';
    const { streamed, whole, stream } = await hear(format, `Hello [[say=${text}]]`);
    t.equal(streamed.text, text);
    t.equal(whole.text, text);
    t.ok(countDeltas(format, stream) > 5);
  });

  t.test(`D49 ${format}: [[tokens]] answers exactly so many`, async (t) => {
    for (const tokens of [1, 2, 13, 200]) {
      const { streamed, stream } = await hear(format, `[[tokens=${tokens}]]`);
      t.equal(countDeltas(format, stream), tokens);
      t.equal(outputTokens(streamed), tokens);
      t.match(streamed.text, /\w\.$/);
    }
  });

  t.test(
    `D49 ${format}: [[status]] answers the format's error, with Retry-After where it helps`,
    async (t) => {
      for (const status of [400, 401, 429, 500, 503, 529])
        for (const stream of [true, false]) {
          const answer = await ask(PATHS[format], requestOf(format, `[[status=${status}]]`, { stream }));
          t.equal(answer.status, status);
          t.equal(answer.headers['retry-after'], [429, 503, 529].includes(status) ? '1' : undefined);
          const body = JSON.parse(answer.body) as Json;
          t.match(body.error, { type: String, message: String });
          if (format === 'messages') t.equal(body.type, 'error');
        }
      const { body } = await ask(PATHS[format], requestOf(format, '[[status=529]]'));
      const type = (JSON.parse(body) as { error: { type: string } }).error.type;
      t.equal(type, format === 'messages' ? 'overloaded_error' : 'server_error');
    },
  );

  t.test(`D49 ${format}: [[cut]] breaks the connection after so many events`, async (t) => {
    for (const cut of [1, 3, 10]) {
      const { body } = await send(
        simulate(),
        PATHS[format],
        requestOf(format, `[[cut=${cut}]]`, { stream: true }),
      );
      let text = '';
      const broken = (async () => {
        for await (const chunk of body) text += String(chunk);
      })();
      await t.rejects(broken, { name: 'UpstreamFault', kind: 'reset' });
      t.equal(readFrames(text).length, cut);
    }
    const whole = await send(simulate(), PATHS[format], requestOf(format, '[[cut=3]]'));
    let half = '';
    await t.rejects(
      (async () => {
        for await (const chunk of whole.body) half += String(chunk);
      })(),
      { name: 'UpstreamFault', kind: 'reset' },
    );
    t.ok(half.length > 0 && half.length < Number(whole.headers['content-length']));
    for (const stream of [true, false])
      await t.rejects(send(simulate(), PATHS[format], requestOf(format, '[[cut=0]]', { stream })), {
        name: 'UpstreamFault',
        kind: 'reset',
      });
  });

  t.test(`D49 ${format}: [[tool]] calls that tool with arguments its schema takes`, async (t) => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['c', 'f'] },
        days: { type: 'array', items: { type: 'integer' } },
        where: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
        exact: { type: 'boolean' },
        note: { type: 'string' },
      },
      required: ['city', 'unit', 'days', 'where', 'exact'],
    };
    const tool = {
      messages: { name: 'look', input_schema: schema },
      chat: { type: 'function', function: { name: 'look', parameters: schema } },
      responses: { type: 'function', name: 'look', parameters: schema },
    }[format];
    const { streamed, whole, stream } = await hear(format, '[[tool=look]]', { tools: [tool] });
    t.equal(streamed.calls.length, 1);
    t.equal(streamed.calls[0]!.name, 'look');
    const input = JSON.parse(streamed.calls[0]!.input) as Json;
    t.match(input, { city: String, unit: /^[cf]$/, days: [Number], where: { lat: Number }, exact: Boolean });
    t.notOk('note' in input);
    t.equal(whole.calls[0]!.input, streamed.calls[0]!.input);
    t.equal(streamed.finish, { messages: 'tool_use', chat: 'tool_calls', responses: 'completed' }[format]);
    t.equal(outputTokens(streamed), countDeltas(format, stream));
    const insisted = { messages: { type: 'any' }, chat: 'required', responses: 'required' }[format];
    const forced = await hear(format, 'Go.', { tools: [tool], tool_choice: insisted });
    t.equal(forced.whole.calls[0]?.name, 'look');
  });

  t.test(`D49 ${format}: directives combine`, async (t) => {
    const text = '[[think=Let me see]] [[say=Looking.]] [[tool=a]] [[tool=b]]';
    const { streamed, whole } = await hear(format, text);
    t.equal(streamed.reasoning, 'Let me see');
    t.equal(streamed.text, 'Looking.');
    t.strictSame(
      streamed.calls.map(({ name, input }) => [name, input]),
      [
        ['a', '{}'],
        ['b', '{}'],
      ],
    );
    t.equal(whole.reasoning, streamed.reasoning);
    const details = (streamed.usage?.output_tokens_details ??
      streamed.usage?.completion_tokens_details) as Json;
    t.equal(details.thinking_tokens ?? details.reasoning_tokens, 3);
  });
}
