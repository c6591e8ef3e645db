import type { DialectName, Forwarded, ForwardOptions, InferenceRequest, Json } from '../dialect.js';
import { Ledger, settleLeftovers, unsupported } from './ledger.js';
import type { NeutralRequest, Part, Turn } from './neutral-request.js';
import { readChatRequest } from './read-chat.js';
import { readMessagesRequest } from './read-messages.js';
import { readResponsesRequest } from './read-responses.js';
import { defaultFlags, type Writing } from './upstream-flags.js';
import { writeChatRequest } from './write-chat.js';
import { messagesHeaders, writeMessagesRequest } from './write-messages.js';
import { writeResponsesRequest } from './write-responses.js';

export interface Translated extends Forwarded {
  /** The fields that were left out, by name, as `x-sluice-dropped` lists them (D42). */
  readonly dropped: readonly string[];
}

export const readers: Readonly<Record<DialectName, (body: Json) => NeutralRequest>> = {
  messages: readMessagesRequest,
  chat: readChatRequest,
  responses: readResponsesRequest,
};

export const writers: Readonly<Record<DialectName, (request: NeutralRequest, writing: Writing) => Json>> = {
  messages: writeMessagesRequest,
  chat: writeChatRequest,
  responses: writeResponsesRequest,
};

const headers: Readonly<Record<DialectName, Readonly<Record<string, string>>>> = {
  messages: messagesHeaders,
  chat: {},
  responses: {},
};

const PLACES: Readonly<Record<Turn['role'], readonly Part['kind'][]>> = {
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: ['text', 'refusal', 'tool_call', 'reasoning'],
  system: ['text'],
};

const checkPlaces = ({ turns }: NeutralRequest): void => {
  for (const { role, parts } of turns)
    for (const part of parts)
      if (!PLACES[role].includes(part.kind))
        throw unsupported(part.at, `the upstream of this model takes no ${part.kind} in a ${role} turn`);
};

const liftSystemTurns = (request: NeutralRequest): NeutralRequest => ({
  ...request,
  system: [
    ...request.system,
    ...request.turns.flatMap(({ role, parts }) =>
      role === 'system' ? parts.filter((part) => part.kind === 'text') : [],
    ),
  ],
  turns: request.turns.filter((turn) => turn.role !== 'system'),
});

/** Betas are wishes to the client's own vendor. */
const noteBetas = (from: DialectName, { clientHeaders }: ForwardOptions, ledger: Ledger): void => {
  if (from === 'messages' && clientHeaders['anthropic-beta'] !== undefined)
    ledger.drop({ at: 'anthropic-beta' });
};

/** A request of one format as bytes for an upstream of another. Throws a 400 that names what cannot be carried over. */
export const translateRequest = (
  from: DialectName,
  to: DialectName,
  request: InferenceRequest,
  options: ForwardOptions,
): Translated => {
  const flags = { ...defaultFlags, ...options.flags };
  const ledger = new Ledger();
  const neutral = readers[from](request.body);
  settleLeftovers(neutral, ledger, flags.dropServerTools);
  checkPlaces(neutral);
  noteBetas(from, options, ledger);
  const body = writers[to](flags.liftSystemTurns ? liftSystemTurns(neutral) : neutral, {
    from,
    options,
    flags,
    ledger,
  });
  return { body: JSON.stringify(body), headers: headers[to], dropped: ledger.dropped() };
};
