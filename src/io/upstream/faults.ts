import { UpstreamFault } from './provider.js';

/** Why a connection failed, without what the library attached to its error: sockets, certificates, received bytes. */
const reason = (error: Error & { code?: unknown }): Error => {
  const code = typeof error.code === 'string' ? error.code : error.name;
  return Object.assign(new Error(error.message === '' ? code : error.message), { code });
};

/** An error of the transport as a fault. `connected`: the request had a connection to go out on. */
export const asFault = (error: Error & { code?: unknown }, connected: boolean): UpstreamFault => {
  if (error instanceof UpstreamFault) return error;
  if (!connected)
    return new UpstreamFault('connect', 'The provider could not be connected to.', reason(error));
  const code = typeof error.code === 'string' ? error.code : '';
  // undici's parser errors have a name, node:http's a code.
  return error.name === 'HTTPParserError' || code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW'
    ? new UpstreamFault('unreadable', 'The provider answered with something that is not HTTP.', reason(error))
    : new UpstreamFault('reset', 'The provider broke the connection.', reason(error));
};

export const aborted = (): UpstreamFault => new UpstreamFault('aborted', 'The caller left.');

export const timedOut = (what: 'first_byte' | 'idle' | 'total'): UpstreamFault =>
  new UpstreamFault(
    'timeout',
    {
      first_byte: 'The provider sent no answer in time.',
      idle: 'The provider fell silent in the middle of its answer.',
      total: 'The provider did not finish its answer in time.',
    }[what],
  );

export const unreadable = (message: string): UpstreamFault => new UpstreamFault('unreadable', message);
