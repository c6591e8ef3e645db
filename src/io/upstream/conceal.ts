const MASK = '***';
/** Anything shorter would also stand where nobody meant it. */
const SHORTEST = 8;
const SECRET_NAME = /auth|key|token|secret|cookie|sig|password/i;

export interface Secrets {
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Added to every address; a provider's error may quote the address. */
  readonly query: Readonly<Record<string, string>>;
}

/** Takes the operator's credentials out of what a provider says, should it quote them. */
export const createConcealer = ({ apiKey, headers, query }: Secrets): ((words: string) => string) => {
  const values = Object.entries(headers)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]);
  const queried = Object.entries(query)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => [value, encodeURIComponent(value)]);
  const secrets = [...new Set([apiKey, ...values, ...queried])].filter(({ length }) => length >= SHORTEST);
  return (words) => secrets.reduce((left, secret) => left.replaceAll(secret, MASK), words);
};
