import type { DialectName } from '../../../src/dialects/dialect.js';
import type { House } from '../../support/review.js';

/** A rule of one kind, and a text it is about. */
export interface Row {
  readonly name: string;
  /** The organization that has the rule. */
  readonly house: string;
  readonly rules: House;
  readonly bad: string;
  /** What of that text no client may see a prefix release; null = a classifier may be late in a stream. */
  readonly never: RegExp | null;
  readonly code: 'content_blocked' | 'policy_blocked';
  readonly match: { readonly kind: string; readonly name: string };
}

export const rows: readonly Row[] = [
  {
    name: 'a category that is always blocked',
    house: 'always',
    rules: {},
    bad: 'The pain never stops, I am planning my suicide and I want to kill myself.',
    never: null,
    code: 'content_blocked',
    match: { kind: 'category', name: 'self-harm' },
  },
  {
    name: 'a flagged category',
    house: 'flagging',
    rules: { gateway: { rules: { flagged_categories: ['harassment'] } } },
    bad:
      'You are such a useless halfwit, you idiot, nobody likes you and everyone laughs at you behind your back. ' +
      'You make me sick, you pathetic little worm, go away and never come back. You should be ashamed of existing, ' +
      'you dumb brat, you are so ugly, and even your mother hates you, you worthless nobody, you ruin everything.',
    never: null,
    code: 'policy_blocked',
    match: { kind: 'category', name: 'harassment' },
  },
  {
    name: 'the denylist',
    house: 'denying',
    rules: { gateway: { rules: { denylist: ['forbidden fruit', 'zorkmid'] } } },
    bad: 'Try the Forbidden\n fruit today.',
    never: /forbidden\s+fruit/i,
    code: 'policy_blocked',
    match: { kind: 'denylist', name: 'forbidden fruit' },
  },
  {
    name: 'a CEL policy',
    house: 'cel',
    rules: { policies: [{ rule: 'cel: text.matches("(?i)code\\\\s+word\\\\s+[a-z]{3,8}")' }] },
    bad: 'Write this down: CODE  word alpha.',
    never: /code\s+word\s+alpha/i,
    code: 'policy_blocked',
    match: { kind: 'policy', name: 'pol_cel_0' },
  },
  {
    name: 'a prose policy',
    house: 'prose',
    rules: { policies: [{ rule: 'Nobody may speak of "operation bluebird".' }] },
    bad: 'It is about Operation Bluebird of last year.',
    never: /operation bluebird/i,
    code: 'policy_blocked',
    match: { kind: 'policy', name: 'pol_prose_0' },
  },
];

export const MAIL = 'jane.doe@example.com';
export const CARD = '4111 1111 1111 1111';

/** Longer than what is held back of a stream, so that the rule meets text that has begun to leave. */
export const BEFORE =
  'Thank you for the question. I have looked into it with some care, and here is what I found about it so far. ' +
  'The garden lies behind the house, and in the morning the sun comes over the wall and reaches the first trees. ' +
  'Nobody has cut the grass for a while, so that one can hardly see the path which leads down to the little river. ';
export const AFTER = ' That is all there is to say, and this is the very last sentence of the text.';

export const houses: Readonly<Record<string, House>> = {
  ...Object.fromEntries(rows.map(({ house, rules }) => [house, rules])),
  redacting: { gateway: { rules: { redact: true } } },
  listing: { gateway: { rules: { allowlist: ['insurance'] } } },
};

export const doors: Readonly<Record<DialectName, string>> = {
  messages: '4.10 /v1/messages',
  chat: '4.13 /v1/chat/completions',
  responses: '4.11 /v1/responses',
};

/** What a client library throws for a refused request. */
export interface Thrown {
  readonly status?: number;
  readonly message: string;
  readonly headers?: Headers;
  readonly error?: unknown;
}

export const thrownBy = async (run: () => Promise<unknown>): Promise<Thrown> => {
  try {
    await run();
  } catch (error) {
    return error as Thrown;
  }
  throw new Error('nothing was thrown');
};
