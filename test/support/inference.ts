import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { APP_KEY } from './gateway.js';

export const simulated = (text: string, more: object = {}) => ({
  model: 'sim-small',
  max_tokens: 100,
  messages: [{ role: 'user', content: text }],
  ...more,
});

export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Answer deltas read so far. */
  readonly deltas: () => number;
  readonly text: () => string;
  readonly ended: Promise<void>;
  /** The client leaves. */
  leave(): void;
}

/** Sends a streamed request; resolves with the head of the answer. `onDelta` is told of each delta as it is read. */
export const openStream = (
  url: string,
  body: object,
  {
    key = APP_KEY,
    onDelta,
  }: { readonly key?: string; readonly onDelta?: (count: number, leave: () => void) => void } = {},
): Promise<OpenStream> =>
  new Promise((resolve, reject) => {
    const bytes = JSON.stringify({ ...body, stream: true });
    const sent: ClientRequest = request(`${url}/v1/messages`, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(bytes),
        authorization: `Bearer ${key}`,
      },
    });
    const leave = (): void => void sent.destroy();
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      let deltas = 0;
      response.setEncoding('utf8');
      response.on('error', () => undefined); // it was called off
      response.on('data', (part: string) => {
        text += part;
        const count = text.split('event: content_block_delta').length - 1;
        while (deltas < count) {
          deltas++;
          if (!sent.destroyed) onDelta?.(deltas, leave);
        }
      });
      const ended = new Promise<void>((done) => response.on('close', () => done()));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        deltas: () => deltas,
        text: () => text,
        ended,
        leave,
      });
    });
    sent.end(bytes);
  });
