import { request } from 'undici';

const ANSWER_BYTES = 1_048_576;

/** One POST to an address of the operator's; rejects when it is not answered in time. */
export const post = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly body: string }> => {
  const deadline = AbortSignal.timeout(timeoutMs);
  const answer = await request(url, {
    method: 'POST',
    headers,
    body,
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  });
  let bytes = 0;
  const pieces: Buffer[] = [];
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) throw new Error('The answer is too large.');
    pieces.push(chunk);
  }
  return { status: answer.statusCode, body: Buffer.concat(pieces).toString('utf8') };
};
