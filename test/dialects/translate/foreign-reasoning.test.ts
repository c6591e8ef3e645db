import t from 'tap';
import { newId } from '../../../src/core/ids.js';
import { withoutForeignReasoning } from '../../../src/dialects/translate/foreign-reasoning.js';
import { tagSignature } from '../../../src/dialects/translate/signature.js';

const own = { type: 'thinking', thinking: 'a', signature: 'c2ln' };
const foreign = { type: 'thinking', thinking: 'b', signature: tagSignature('responses', 'gAAA') };
const unsigned = { type: 'thinking', thinking: 'c', signature: '' };
const text = { type: 'text', text: 'd' };

t.test('D42 after a fallback, reasoning of another vendor is not sent to this one', async (t) => {
  const messages = (...contents: unknown[]) => ({
    model: 'm',
    messages: contents.map((content) => ({ role: 'assistant', content })),
  });
  t.same(
    withoutForeignReasoning(
      'messages',
      messages([own, text], [foreign, unsigned, text], [unsigned], 'plain', []),
    ),
    messages([own, text], [text], 'plain', []),
  );
  const kept = { type: 'reasoning', id: 'rs_0a1b', summary: [], encrypted_content: 'gAAA' };
  const looked = { type: 'reasoning', id: 'rs_0a1b', summary: [] };
  const message = { role: 'user', content: 'a' };
  const input = [
    kept,
    looked,
    { ...kept, encrypted_content: tagSignature('messages', 'c2ln') },
    { ...looked, id: newId('rs') },
    message,
  ];
  t.same(withoutForeignReasoning('responses', { input }), { input: [kept, looked, message] });
});

t.test('D42 a body without any is passed on as it is, not copied', async (t) => {
  const messages = { messages: [{ role: 'assistant', content: [own, text] }, 5] };
  t.equal(withoutForeignReasoning('messages', messages), messages);
  const responses = { input: 'hi' };
  t.equal(withoutForeignReasoning('responses', responses), responses);
  const chat = { messages: [{ role: 'assistant', content: [foreign] }] };
  t.equal(withoutForeignReasoning('chat', chat), chat);
});
