import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECRET as SINK_SECRET } from '../sinks/destinations.js';

const canary = (what: string): string => `canary-${what}-4f7c1e`;

/** What nobody but its owner may ever see again. */
export const planted = {
  appKey: 'sk-test-canary-app-key-4f7c1e-0123456789',
  adminKey: 'sk-test-canary-admin-key-4f7c1e-0123456789',
  providerKey: 'sk-ant-canary-provider-key-4f7c1e',
  sinkToken: SINK_SECRET,
  otherSinkToken: canary('other-sink-token'),
  pepper: 'canary-pepper-4f7c1e-0123456789abcdef0123456789',
  redisPassword: canary('redis-password'),
} as const;

/** What a user said or was told: it goes to the model and to the user, and nowhere else. */
export const said = {
  prompt: canary('prompt'),
  system: canary('system-prompt'),
  answer: canary('answer'),
  toolInput: canary('tool-input'),
  toolResult: canary('tool-result'),
} as const;

/** Things that were written somewhere, by where. */
export class Evidence {
  readonly #texts: { readonly where: string; readonly text: string }[] = [];

  add(where: string, text: string): void {
    this.#texts.push({ where, text });
  }

  get size(): number {
    return this.#texts.length;
  }

  /** Where a canary was found, plain or in base64. */
  find(canaries: Readonly<Record<string, string>>): string[] {
    return Object.entries(canaries).flatMap(([name, value]) =>
      this.#texts
        .filter(({ text }) => [value, encoded(value)].some((spelling) => text.includes(spelling)))
        .map(({ where, text }) => `${name} in ${where}: ${around(text, value)}`),
    );
  }
}

/** Without its ends, which depend on what stands beside. */
const encoded = (value: string): string => Buffer.from(value).toString('base64').slice(2, -4);

const around = (text: string, value: string): string => {
  const at = Math.max(0, text.indexOf(value));
  return text.slice(Math.max(0, at - 80), at + 120).replaceAll(/[^\x20-\x7e]/g, '.');
};

/** Every file below a folder, as it is on disk. */
export const addFiles = (evidence: Evidence, folder: string): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      evidence.add(`file ${entry.name}`, readFileSync(join(entry.parentPath, entry.name), 'latin1'));
};

const usage = { input_tokens: 5, output_tokens: 7 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
const frame = (data: { readonly type: string }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** An answer that says the canaries, whole. */
export const wholeAnswer = (more = '') => ({
  ...message,
  content: [
    { type: 'text', text: `${said.answer} ${more}` },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { query: said.toolInput } },
  ],
  stop_reason: 'tool_use',
  usage,
});

/** The same as a stream, up to its end or not. */
export const streamedAnswer = (more = '', isCut = false): string[] => [
  frame({ type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } } as never),
  frame({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  } as never),
  frame({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: `${said.answer} ${more}` },
  } as never),
  ...(isCut
    ? []
    : [
        frame({ type: 'content_block_stop', index: 0 } as never),
        frame({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage,
        } as never),
        frame({ type: 'message_stop' }),
      ]),
];
