import { createHash, createHmac } from 'node:crypto';

export interface SigningRequest {
  readonly method: string;
  /** As it goes on the wire: encoded, without a query. */
  readonly path: string;
  /** Every one is signed; names in lower case, `host` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string;
}

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** AWS Signature Version 4 for S3: the value of `Authorization`. `amzDate` is also the header `x-amz-date`. */
export const signS3 = (request: SigningRequest, key: SigningKey, amzDate: string): string => {
  const names = Object.keys(request.headers).sort();
  const signedHeaders = names.join(';');
  const canonical = [
    request.method,
    request.path,
    '', // no query
    ...names.map((name) => `${name}:${request.headers[name]!.trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    request.bodyHash,
  ].join('\n');
  const scope = `${amzDate.slice(0, 8)}/${key.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', amzDate, scope, sha256(canonical)].join('\n');
  let signing: Buffer | string = `AWS4${key.secretAccessKey}`;
  for (const part of scope.split('/')) signing = createHmac('sha256', signing).update(part).digest();
  const signature = createHmac('sha256', signing).update(text).digest('hex');
  return `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
};

export const sha256 = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('hex');

/** `20250131T120000Z`. */
export const amzDateOf = (ms: number): string => new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, '');

/** A key as S3 signs it: every byte but the unreserved ones, and slashes stay. */
export const encodePath = (path: string): string =>
  encodeURIComponent(path)
    .replace(/%2F/g, '/')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
