import { Agent, request } from 'node:http';
import { APP_KEY } from '../gateway.js';
import { DENIED_TERM } from './gateway-process.js';

/** One request, and how its reply must begin. */
interface Kind {
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

const message = (text: string, more: object = {}): string =>
  JSON.stringify({
    model: 'sim-small',
    max_tokens: 20,
    messages: [{ role: 'user', content: text }],
    ...more,
  });

/** Every way in which an admitted request may end. */
const kinds: readonly Kind[] = [
  { path: '/v1/messages', body: message('Say something. [[tokens=5]]'), status: 200 },
  { path: '/v1/messages', body: message('Say it slowly. [[tokens=5]]', { stream: true }), status: 200 },
  { path: '/v1/chat/completions', body: message('Chat. [[tokens=3]]'), status: 200 },
  {
    path: '/v1/responses',
    body: JSON.stringify({ model: 'sim-small', input: 'Respond. [[tokens=3]]' }),
    status: 200,
  },
  { path: '/v1/messages', body: message(`What about the ${DENIED_TERM}?`), status: 200 },
  { path: '/v1/messages', body: message('Break off. [[cut=3]]', { stream: true }), status: 200 },
  { path: '/v1/chat/completions', body: message('Fail. [[status=500]]'), status: 502 },
  { path: '/v1/messages', body: '{"model":', status: 400 },
];

/** Sends requests of every kind and remembers those whose whole reply was read. */
export class Traffic {
  /** Request ids by the status they were answered with. */
  readonly seen = new Map<string, number>();
  readonly #agent = new Agent({ keepAlive: true });
  #sent = 0;

  /** Resolves when the reply was read, or the gateway is gone. */
  send(url: string): Promise<void> {
    const kind = kinds[this.#sent++ % kinds.length]!;
    return new Promise((resolve) => {
      const outgoing = request(url + kind.path, {
        method: 'POST',
        agent: this.#agent,
        headers: {
          authorization: `Bearer ${APP_KEY}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(kind.body),
        },
      });
      outgoing.on('error', () => resolve());
      outgoing.on('response', (reply) => {
        reply.on('error', () => resolve());
        reply.on('end', () => {
          const id = reply.headers['x-request-id'];
          if (reply.complete && typeof id === 'string') this.seen.set(id, reply.statusCode ?? 0);
          resolve();
        });
        reply.resume();
      });
      outgoing.end(kind.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

const TICK_MS = 5;

/** Starts `act` so often a second, with at most so many under way, until it is told to stop. */
export const pace = async (
  perSecond: number,
  mostAtOnce: number,
  act: () => Promise<void>,
  isOver: () => boolean,
): Promise<void> => {
  const underWay = new Set<Promise<void>>();
  let startedMs = performance.now();
  let started = 0;
  while (!isOver()) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond) - started;
    // Behind by more than a second, it does not try to catch up: the rate is a rate, not a number.
    if (due > perSecond) [startedMs, started] = [performance.now(), 0];
    for (let n = 0; n < Math.min(due, perSecond) && underWay.size < mostAtOnce && !isOver(); n++) {
      started++;
      const one = act().finally(() => underWay.delete(one));
      underWay.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(underWay);
};
