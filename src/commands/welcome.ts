import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway, MadeKey } from '../gateway.js';
import type { Terminal } from './command.js';

export interface Greeting {
  readonly address: Gateway['address'];
  readonly secure: boolean;
  readonly madeKeys: readonly MadeKey[];
  /** The model of the examples. */
  readonly model: string;
}

/** The address as a client on this machine writes it. */
const originOf = ({ address: { host, port }, secure }: Pick<Greeting, 'address' | 'secure'>): string => {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${secure ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};

const formatKeys = (keys: readonly MadeKey[]): string =>
  keys
    .map(
      ({ kind, organizationId, projectId, name, secret }) =>
        `  ${kind} key "${name}" of ${projectId ?? organizationId}\n    ${secret}`,
    )
    .join('\n');

const curl = (url: string, key: string, body: object): string =>
  `curl ${url} -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;

const examples = (origin: string, key: string, model: string): string => {
  const messages = [{ role: 'user', content: 'Hello!' }];
  return [
    curl(`${origin}/v1/messages`, key, { model, max_tokens: 64, messages }),
    curl(`${origin}/v1/chat/completions`, key, { model, messages }),
    curl(`${origin}/v1/responses`, key, { model, input: 'Hello!' }),
  ].join('\n\n');
};

/** What a first run tells: the keys, a call to each inference endpoint, and where SDKs are pointed. */
export function welcomeText(greeting: Greeting): string {
  const origin = originOf(greeting);
  const project = greeting.madeKeys.find(({ kind }) => kind === 'project');
  return `
Sluice listens on ${origin}

Keys, shown only this once:

${formatKeys(greeting.madeKeys)}
${project ? `\nTry it:\n\n${examples(origin, project.secret, greeting.model)}\n` : ''}
Point an SDK at it (the project key is its API key):

  ANTHROPIC_BASE_URL=${origin}
  OPENAI_BASE_URL=${origin}/v1
`;
}

/** Shows generated keys to a person; where nobody reads, puts them into a file that only this user can open. */
export function welcome(greeting: Greeting, folder: string, terminal: Terminal): void {
  if (greeting.madeKeys.length === 0) {
    if (terminal.isInteractive) terminal.out(`Sluice listens on ${originOf(greeting)}`);
    return;
  }
  if (terminal.isInteractive) {
    terminal.out(welcomeText(greeting));
    return;
  }
  const file = join(folder, `keys-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-${process.pid}.txt`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, welcomeText(greeting).trimStart(), { mode: 0o600, flag: 'wx' });
    terminal.out(`The generated keys are in ${file}; move them to a safe place and delete it.`);
  } catch {
    terminal.err(`The generated keys could not be written to ${file}; make others with: sluice keys create`);
  }
}
