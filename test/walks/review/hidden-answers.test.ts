import t from 'tap';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { formats, openDesk, type Json } from '../../support/review.js';
import { BAD, base, paths } from './plain-requests.js';
import { doors, houses, MAIL } from './rows.js';

const frames = (events: readonly Json[], named: boolean): string =>
  events
    .map((each) => `${named ? `event: ${String(each.type)}\n` : ''}data: ${JSON.stringify(each)}\n\n`)
    .join('');

const HEAD = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'm' };
const chatWhole = (message: Json): string =>
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const chatStream = (...deltas: readonly Json[]): string =>
  `${frames(
    [...deltas, {}].map((delta, i) => ({
      ...HEAD,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: i === deltas.length ? 'stop' : null }],
    })),
    false,
  )}data: [DONE]\n\n`;

const message = (content: readonly Json[]): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const messagesWhole = (block: Json): string =>
  JSON.stringify({ ...message([block]), stop_reason: 'end_turn' });
const messagesStream = (block: Json, ...deltas: readonly Json[]): string =>
  frames(
    [
      { type: 'message_start', message: message([]) },
      { type: 'content_block_start', index: 0, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: 'message_stop' },
    ],
    true,
  );

const response = (output: readonly Json[], status: string): Json => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'm',
  status,
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const responsesWhole = (item: Json): string => JSON.stringify(response([item], 'completed'));
const responsesStream = (item: Json): string =>
  frames(
    [
      { type: 'response.created', response: response([], 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: { id: item.id, type: item.type } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response([item], 'completed') },
    ].map((event, i) => ({ ...event, sequence_number: i })),
    true,
  );

const custom = (index: number, name: Json, input: string): Json => ({
  tool_calls: [{ index, id: 'a', type: 'custom', custom: { ...name, input } }],
});
const details = (text: string): Json => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] });
const cited = (text: string): Json => ({ type: 'char_location', cited_text: text, document_title: 'x' });
const fetched = (text: string): Json => ({
  type: 'web_fetch_tool_result',
  tool_use_id: 'a',
  content: {
    type: 'web_fetch_result',
    content: { type: 'document', source: { type: 'text', data: text }, title: 'x' },
  },
});
const edited = (text: string): Json => ({
  type: 'text_editor_code_execution_tool_result',
  tool_use_id: 'a',
  content: { type: 'text_editor_code_execution_result', lines: [text] },
});
const shell = (text: string): Json => ({ type: 'shell_call', id: 'sh_1', action: { commands: [text] } });
const patch = (text: string): Json => ({
  type: 'apply_patch_call',
  id: 'ap_1',
  operation: { type: 'x', diff: text },
});
const search = (text: string): Json => ({
  type: 'file_search_call',
  id: 'fs_1',
  results: [{ file_id: 'x', text, attributes: { by: text } }],
});

type Told = readonly [name: string, whole: (text: string) => string, stream: (text: string) => string];
const half = (text: string): readonly [string, string] => [text.slice(0, 9), text.slice(9)];
const answers: Readonly<Record<DialectName, readonly Told[]>> = {
  chat: [
    [
      'a custom call',
      (text) => chatWhole(custom(0, { name: 'x' }, text)),
      (text) => chatStream(custom(0, { name: 'x' }, ''), ...half(text).map((piece) => custom(0, {}, piece))),
    ],
    [
      'details of the reasoning',
      (text) => chatWhole(details(text)),
      (text) => chatStream(...half(text).map(details)),
    ],
    [
      'an annotation',
      (text) => chatWhole({ content: 'x', annotations: [{ url_citation: { title: text } }] }),
      (text) => chatStream({ content: 'x' }, { annotations: [{ url_citation: { title: text } }] }),
    ],
  ],
  messages: [
    [
      'a citation',
      (text) => messagesWhole({ type: 'text', text: 'x', citations: [cited(text)] }),
      (text) =>
        messagesStream({ type: 'text', text: '' }, { type: 'citations_delta', citation: cited(text) }),
    ],
    ['a page', (text) => messagesWhole(fetched(text)), (text) => messagesStream(fetched(text))],
    ['a file', (text) => messagesWhole(edited(text)), (text) => messagesStream(edited(text))],
  ],
  responses: [
    ['a command', (text) => responsesWhole(shell(text)), (text) => responsesStream(shell(text))],
    ['a patch', (text) => responsesWhole(patch(text)), (text) => responsesStream(patch(text))],
    ['a search', (text) => responsesWhole(search(text)), (text) => responsesStream(search(text))],
  ],
};

for (const format of formats)
  t.test(`${doors[format]}: no place of an answer is left out`, async (t) => {
    const { talker, ask } = await openDesk(t, houses);
    for (const [name, whole, stream] of answers[format])
      for (const [how, write, more] of [
        ['whole', whole, {}],
        ['stream', stream, { stream: true }],
      ] as const) {
        await t.test(`D38 a denied term in ${name} does not leave [${how}]`, async (t) => {
          talker.says({ raw: write(BAD) });
          const told = await (await ask('denying', paths[format], { ...base[format], ...more })).text();
          t.match(told, /Output blocked by content filtering policy/);
          t.notMatch(told, /forbidden/);
        });

        await t.test(`D19 personal data in ${name} is masked [${how}]`, async (t) => {
          talker.says({ raw: write(`Ask ${MAIL}.`) });
          const told = await (await ask('redacting', paths[format], { ...base[format], ...more })).text();
          t.match(told, '[EMAIL_1]');
          t.notMatch(told, 'example.com');
          t.notMatch(told, 'jane');
        });
      }
  });
