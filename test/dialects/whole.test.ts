import fc from 'fast-check';
import t from 'tap';
import type { DialectName } from '../../src/dialects/dialect.js';
import { setMembers } from '../../src/dialects/json-text.js';
import { creditFields, dialects } from '../golden/replay.js';

const answers: Readonly<Record<DialectName, object>> = {
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [{ type: 'text', text: 'Größe "}" \\ 😀' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 4,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 9,
    },
  },
  chat: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 124,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'up',
    output: [],
    usage: {
      input_tokens: 124,
      output_tokens: 9,
      input_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
      output_tokens_details: { reasoning_tokens: 3 },
    },
  },
};

for (const name of Object.keys(answers) as DialectName[]) {
  const answer = Buffer.from(JSON.stringify(answers[name]));
  const reasoning = name === 'messages' ? 0 : 3;

  t.test(`${name}: the usage of a whole answer counts each token once`, async (t) => {
    t.same(dialects[name].inspect(answer, 50).usage, {
      input: 4,
      cacheRead: 100,
      cacheWrite: 20,
      output: 9,
      reasoning,
    });
  });

  t.test(`${name}: D39 the credit fields stand at the top level, every other byte as it came`, async (t) => {
    const sealed = dialects[name].seal(answer, creditFields, null).toString();
    t.same(JSON.parse(sealed), { ...answers[name], ...creditFields });
    t.ok(sealed.startsWith(answer.toString().slice(0, -1)));
  });

  t.test(`${name}: the shown model replaces the upstream's name where it stands`, async (t) => {
    const sealed = dialects[name].seal(answer, creditFields, 'größe').toString();
    t.ok(sealed.startsWith(answer.toString().replace('"up"', '"größe"').slice(0, -1)));
  });

  for (const wrong of ['', '<html>', '[]', 'null', '"x"', '{}', '{"error":{"message":"no"}}', '{"id":'])
    t.test(`${name}: ${wrong || 'nothing'} is no answer`, async (t) => {
      t.throws(() => dialects[name].inspect(Buffer.from(wrong), 50), { code: 'provider_error', status: 502 });
    });
}

t.test('limits 3: an answer without usage costs an estimate of what was asked and said', async (t) => {
  const said = { messages: 5, chat: 1, responses: 0 };
  for (const name of Object.keys(answers) as DialectName[]) {
    for (const usage of [
      undefined,
      null,
      'x',
      { input_tokens: -4, output_tokens: 'x', prompt_tokens: null },
    ]) {
      const answer = Buffer.from(JSON.stringify({ ...answers[name], usage }));
      t.same(dialects[name].inspect(answer, 50).usage, {
        input: 50,
        cacheRead: 0,
        cacheWrite: 0,
        output: said[name],
        reasoning: 0,
      });
    }
  }
});

t.test('cached tokens that exceed the prompt are not a part of it', async (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 50 } };
  t.match(dialects.chat.inspect(Buffer.from(JSON.stringify({ choices: [], usage })), 0).usage, {
    input: 10,
    cacheRead: 50,
  });
});

t.test('members are set in the text of any object, however it is spaced', async () => {
  const spaces = [undefined, 1, '\t', '\r\n '];
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('model', 'remaining_credits')), fc.jsonValue()),
      fc.constantFrom(...spaces),
      fc.jsonValue(),
      (object, space, model) => {
        const before = JSON.stringify(object, null, space);
        const after = setMembers(Buffer.from(`\n ${before} \n`), {
          model,
          remaining_credits: null,
        }).toString();
        const expected: unknown = JSON.parse(JSON.stringify({ ...object, model, remaining_credits: null }));
        return JSON.stringify(JSON.parse(after)) === JSON.stringify(expected);
      },
    ),
    { numRuns: 500 },
  );
});

t.test('fields that an upstream gateway wrote already are replaced, not repeated', async (t) => {
  const twice = setMembers(setMembers(Buffer.from('{ "a": 1 }'), { b: 1 }), { b: [2], c: 3 });
  t.equal(twice.toString(), '{ "a": 1 ,"b":[2],"c":3}');
  t.equal(setMembers(Buffer.from('{}'), { a: 'x' }).toString(), '{"a":"x"}');
});
