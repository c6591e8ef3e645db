import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { createConnector, type ConnectorOptions } from './connector.js';

/**
 * Connections for the tunnel: one per request, never reused, because node:http could take the late answer of one call
 * for another's.
 */
export const createTunnelAgent = (options: ConnectorOptions): Agent => {
  const connect = createConnector(options);
  const agent = options.origin.startsWith('https:') ? new SecureAgent() : new Agent();
  return Object.assign(agent, {
    createConnection: (_: unknown, done: Parameters<typeof connect>[0]) => {
      connect(done);
    },
  });
};
