const MASK = '***';
/** Anything shorter would also stand where nobody meant it. */
const SHORTEST = 8;
const SECRET_HEADER = /auth|key|token|secret|cookie/i;

export interface Secrets {
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes the operator's credentials out of what a provider says, should it quote them. */
export const createConcealer = ({ apiKey, headers }: Secrets): ((words: string) => string) => {
  const values = Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]);
  const secrets = [...new Set([apiKey, ...values])].filter(({ length }) => length >= SHORTEST);
  return (words) => secrets.reduce((left, secret) => left.replaceAll(secret, MASK), words);
};
