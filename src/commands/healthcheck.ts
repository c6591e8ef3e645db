import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Config } from '../config/schema.js';
import { parseDuration } from '../core/duration.js';
import { configOption, FAILED, OK, readConfig, UsageError, type Command } from './command.js';

/** Where a gateway with this configuration is reached from the same machine. */
function localAddress({ server }: Config): { host: string; port: number; secure: boolean } {
  if (server.admin_port !== null) return { host: '127.0.0.1', port: server.admin_port, secure: false };
  const host = server.host === '0.0.0.0' ? '127.0.0.1' : server.host === '::' ? '::1' : server.host;
  return { host, port: server.port, secure: server.tls !== null };
}

/** The status of a health page, or why there is none. */
export function probe(config: Config, path: string, timeoutMs: number): Promise<number | string> {
  const { host, port, secure } = localAddress(config);
  // The certificate names the public host, not this address; nothing secret is sent.
  const open = secure ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = open({ host, port, path, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    const timer = setTimeout(() => request.destroy(new Error('no answer in time')), timeoutMs);
    request
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .on('close', () => clearTimeout(timer))
      .end();
  });
}

export const healthcheck: Command = {
  name: 'healthcheck',
  about: 'Ask the gateway of this configuration whether it is alive; for the HEALTHCHECK of a container.',
  options: {
    ready: { about: 'ask whether it is ready to serve' },
    timeout: { value: 'TIME', about: 'how long to wait; default 3s' },
    ...configOption,
  },
  async run(input, terminal) {
    const timeoutMs = parseDuration(input.values['timeout'] ?? '3s');
    if (timeoutMs === undefined) throw new UsageError('--timeout must be a duration such as 3s');
    const config = await readConfig(input, terminal);
    const path = input.switches.has('ready') ? '/readyz' : '/healthz';
    const answer = await probe(config, path, timeoutMs);
    if (answer === 200) {
      terminal.out('ok');
      return OK;
    }
    terminal.err(`sluice: ${path} on port ${localAddress(config).port}: ${answer}`);
    return FAILED;
  },
};
