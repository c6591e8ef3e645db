export type OutboundFaultKind =
  | 'forbidden' // the rules for destinations say no
  | 'certificate' // the destination cannot be trusted
  | 'connect' // no connection
  | 'timeout'
  | 'cut' // the connection broke before the whole reply was here
  | 'oversized' // the reply is larger than anybody reads
  | 'unreadable' // it cannot be decoded
  | 'stopped'; // the caller did not want to wait any longer

/** Why there is no reply. The message is our own text: it may be shown. */
export class OutboundFault extends Error {
  readonly kind: OutboundFaultKind;

  constructor(kind: OutboundFaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'OutboundFault';
    this.kind = kind;
  }
}

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]{1,48}$/.test(code) ? code : '';
};

const withCode = (text: string, error: unknown): string => {
  const code = codeOf(error);
  return code === '' ? `${text}.` : `${text} (${code}).`;
};

/** What went wrong before a connection could be used. */
export const asConnectFault = (error: unknown): OutboundFault => {
  if (error instanceof OutboundFault) return error;
  if (/CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(codeOf(error)))
    return new OutboundFault(
      'certificate',
      withCode('The certificate of the destination is not trusted', error),
      error,
    );
  if (/^E(NOTFOUND|AI_)/.test(codeOf(error)))
    return new OutboundFault('connect', withCode('The host name does not resolve', error), error);
  return new OutboundFault('connect', withCode('No connection could be made', error), error);
};

/** What went wrong after it. */
export const asReplyFault = (error: unknown): OutboundFault =>
  error instanceof OutboundFault
    ? error
    : new OutboundFault('cut', withCode('The connection broke before the reply was complete', error), error);
