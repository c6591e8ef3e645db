import type { IncomingMessage } from 'node:http';

/** `repeated` and `invalid` are the client's mistake in a header (400); `encoding` is a compressed body (415). */
export interface HeaderFault {
  readonly kind: 'repeated' | 'invalid' | 'encoding';
  readonly header: string;
  readonly message: string;
}

/** Where two values would let two readers of one request see two different requests. */
const SINGLE = new Map(
  [
    'host',
    'authorization',
    'x-api-key',
    'content-length',
    'content-type',
    'idempotency-key',
    'x-free-tier',
    'transfer-encoding',
    'expect',
  ].map((name, index) => [name, 1 << index]),
);
const HOST_BIT = SINGLE.get('host')!;
const LONGEST_NAME = 'transfer-encoding'.length;

const invalid = (header: string, message: string): HeaderFault => ({ kind: 'invalid', header, message });

const judge = (name: string, value: string): HeaderFault | null => {
  switch (name) {
    case 'content-encoding':
      return value.trim().toLowerCase() === 'identity'
        ? null
        : { kind: 'encoding', header: name, message: 'Compressed request bodies are not accepted.' };
    case 'transfer-encoding':
      return value.trim().toLowerCase() === 'chunked'
        ? null
        : invalid(name, 'The only transfer-encoding accepted is chunked.');
    case 'expect':
      return value.trim().toLowerCase() === '100-continue'
        ? null
        : invalid(name, 'The only expectation known is 100-continue.');
    default:
      return null;
  }
};

/**
 * The first thing wrong with the headers as they came; null when all is well. Works on `rawHeaders`, since `headers`
 * keeps the first of two and says nothing, and `headersDistinct` has crashed on a `__proto__` header.
 */
export const checkHeaders = (
  req: Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMajor' | 'httpVersionMinor'>,
): HeaderFault | null => {
  const { rawHeaders } = req;
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const rawName = rawHeaders[i]!;
    if (rawName.length > LONGEST_NAME) continue;
    const name = rawName.toLowerCase();
    const bit = SINGLE.get(name);
    if (bit !== undefined) {
      if ((seen & bit) !== 0)
        return { kind: 'repeated', header: name, message: `The header ${name} is sent twice.` };
      seen |= bit;
    }
    const fault = judge(name, rawHeaders[i + 1]!);
    if (fault) return fault;
  }
  const hostRequired = req.httpVersionMajor === 1 && req.httpVersionMinor >= 1;
  if (hostRequired && (seen & HOST_BIT) === 0) return invalid('host', 'The header host is missing.');
  return null;
};
