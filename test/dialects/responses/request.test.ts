import t from 'tap';
import { responsesDialect } from '../../../src/dialects/responses/dialect.js';

const valid = { model: 'gpt-x', input: 'hi' };

const faults: readonly [title: string, body: unknown, param: string][] = [
  ['no object', 3, 'body'],
  ['no model', { input: 'hi' }, 'model'],
  ['input as a number', { ...valid, input: 3 }, 'input'],
  ['an input item that is a string', { ...valid, input: ['x'] }, 'input.0'],
  ['instructions as an array', { ...valid, instructions: [] }, 'instructions'],
  ['stream as text', { ...valid, stream: 'yes' }, 'stream'],
  ['temperature 2.5', { ...valid, temperature: 2.5 }, 'temperature'],
  ['max_output_tokens 0', { ...valid, max_output_tokens: 0 }, 'max_output_tokens'],
  ['tools that are no array', { ...valid, tools: {} }, 'tools'],
  ['a tool that is a string', { ...valid, tools: [{}, 'x'] }, 'tools.1'],
  ['an unknown category', { ...valid, flagged_categories: ['minors'] }, 'flagged_categories.0'],
];

for (const [title, body, param] of faults) {
  t.test(`4.11 ${title} is refused, naming ${param}`, async (t) => {
    t.throws(() => responsesDialect.read(body), { code: 'invalid_request', status: 400, param });
  });
}

t.test('4.11 what the walk acts on is read; null is as good as absent', async (t) => {
  t.match(
    responsesDialect.read({
      ...valid,
      stream: true,
      max_output_tokens: 5,
      flagged_categories: ['harassment'],
    }),
    { model: 'gpt-x', stream: true, maxOutputTokens: 5, flaggedCategories: ['harassment'], body: valid },
  );
  t.match(responsesDialect.read({ ...valid, stream: null, max_output_tokens: null, temperature: null }), {
    stream: false,
    maxOutputTokens: null,
  });
});

t.test('4.11 the body goes on as it came, with the upstream model', async (t) => {
  const body = {
    ...valid,
    input: [{ role: 'user', content: 'x' }],
    tool_choice: 'auto',
    store: false,
    tools: [{}],
  };
  const request = responsesDialect.read({ ...body, flagged_categories: [] });
  const sent = responsesDialect.forward(request, {
    upstreamModel: 'up',
    clientHeaders: {},
    defaultMaxTokens: 5,
  });
  t.same(JSON.parse(sent.body), { ...body, model: 'up' });
});
