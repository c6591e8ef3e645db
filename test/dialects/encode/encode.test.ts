import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { InferenceEvent } from '../../../src/core/events.js';
import { collectChat } from '../../../src/dialects/chat/collect.js';
import { encodeChat } from '../../../src/dialects/chat/encode.js';
import type { Json } from '../../../src/dialects/dialect.js';
import type { Encoder } from '../../../src/dialects/encoding.js';
import { collectMessages } from '../../../src/dialects/messages/collect.js';
import { encodeMessages } from '../../../src/dialects/messages/encode.js';
import { collectResponses } from '../../../src/dialects/responses/collect.js';
import { encodeResponses } from '../../../src/dialects/responses/encode.js';
import { anyAnswer, anyBrokenAnswer, callsIn, saidIn } from './any-answer.js';
import { checkChat } from './check-chat.js';
import { checkMessages } from './check-messages.js';
import { checkResponses } from './check-responses.js';
import { readFrames, type Heard } from './frames.js';
import { hearChatBody, hearMessagesBody, hearResponsesBody } from './whole-bodies.js';

const write = (encoder: Encoder, events: readonly InferenceEvent[]): string =>
  events.map((event) => encoder.push(event)).join('');

interface Format {
  readonly name: string;
  readonly hear: (events: readonly InferenceEvent[]) => Heard;
  readonly hearWhole: (events: readonly InferenceEvent[]) => Heard;
}

const FORMATS: readonly Format[] = [
  {
    name: 'Messages',
    hear: (events) => checkMessages(readFrames(write(encodeMessages(), events))),
    hearWhole: (events) => hearMessagesBody(collectMessages(events)),
  },
  {
    name: 'Chat Completions',
    hear: (events) => checkChat(readFrames(write(encodeChat({ includeUsage: true }), events)), true),
    hearWhole: (events) => hearChatBody(collectChat(events)),
  },
  {
    name: 'Responses',
    hear: (events) => checkResponses(readFrames(write(encodeResponses(), events))),
    hearWhole: (events) => hearResponsesBody(collectResponses(events)),
  },
];

const namesIn = ({ calls }: Heard): Json[] => calls.map(({ name, input }) => ({ name, input }));

for (const { name, hear, hearWhole } of FORMATS) {
  t.test(`4.10 any answer obeys the order of ${name} and says all of it`, async (t) => {
    fc.assert(
      fc.property(anyAnswer, (events) => {
        const heard = hear(events);
        if (name === 'Messages') {
          assert.equal(heard.text, saidIn(events, 'text', 'refusal'));
        } else {
          assert.equal(heard.text, saidIn(events, 'text'));
          assert.equal(heard.refusal, saidIn(events, 'refusal'));
        }
        assert.equal(heard.reasoning, saidIn(events, 'reasoning'));
        assert.deepEqual(namesIn(heard), callsIn(events));
        assert.equal(new Set(heard.calls.map(({ id }) => id)).size, heard.calls.length);
      }),
      { numRuns: 400 },
    );
    t.pass();
  });

  t.test(`4.10 the whole body of ${name} says what its stream says`, async (t) => {
    fc.assert(
      fc.property(anyAnswer, (events) => {
        const [streamed, whole] = [hear(events), hearWhole(events)];
        for (const key of ['text', 'reasoning', 'refusal', 'finish', 'usage', 'signatures'] as const)
          assert.deepEqual(whole[key], streamed[key], key);
        if (name !== 'Messages') assert.deepEqual(namesIn(whole), namesIn(streamed));
      }),
      { numRuns: 300 },
    );
    t.pass();
  });

  t.test(`4.10 an answer that breaks off ends with the error of ${name}`, async (t) => {
    fc.assert(
      fc.property(anyBrokenAnswer, (events) => {
        const heard = hear(events);
        assert.equal(heard.error?.message, 'It broke.');
        assert.equal(heard.finish, null);
        assert.throws(() => hearWhole(events), /It broke/);
      }),
      { numRuns: 200 },
    );
    t.pass();
  });

  t.test(`4.10 nothing is written in ${name} once an answer is over`, async (t) => {
    const encoder =
      name === 'Messages' ? encodeMessages() : name === 'Responses' ? encodeResponses() : encodeChat();
    encoder.push({ type: 'start', id: '', model: 'm', usage: null });
    encoder.push({ type: 'finish', reason: 'stop', stopSequence: null });
    t.equal(encoder.push({ type: 'error', code: 'provider_error', message: 'late' }), '');
    t.equal(encoder.push({ type: 'finish', reason: 'stop', stopSequence: null }), '');
  });
}
