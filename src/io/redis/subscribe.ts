import type { Redis } from 'ioredis';

export interface Subscriber {
  message(text: string): void;
  /** Called each time the subscription stands again after a loss: what was published meanwhile is gone. */
  resumed(): void;
}

export interface Subscription {
  /** Resolves when the subscription stands for the first time. */
  readonly subscribed: Promise<void>;
  readonly close: () => void;
}

const HEARTBEAT_MS = 2_000;
const MAX_DELAY_MS = 1_000;

/** Holds one subscription for ever: each loss is answered by a fresh connection, to another node where there is one. */
export function keepSubscribed(
  connect: () => Redis | null,
  channel: string,
  subscriber: Subscriber,
): Subscription {
  let connection: Redis | null = null;
  let timer: NodeJS.Timeout | undefined;
  let attempt = 0;
  let isClosed = false;
  let stoodBefore = false;
  let markSubscribed: () => void;
  const subscribed = new Promise<void>((resolve) => {
    markSubscribed = resolve;
  });

  const start = (): void => {
    const current = connect();
    connection = current;
    if (current === null) {
      again();
      return;
    }
    let heartbeat: NodeJS.Timeout | undefined;
    current.on('error', () => {});
    current.on('message', (_channel: string, text: string) => subscriber.message(text));
    current.once('end', () => {
      clearInterval(heartbeat);
      again();
    });
    current.subscribe(channel).then(
      () => {
        attempt = 0;
        heartbeat = setInterval(() => {
          current.ping().catch(() => current.disconnect());
        }, HEARTBEAT_MS);
        if (isClosed) clearInterval(heartbeat);
        else if (stoodBefore) subscriber.resumed();
        stoodBefore = true;
        markSubscribed();
      },
      () => current.disconnect(),
    );
  };

  const again = (): void => {
    if (isClosed) return;
    timer = setTimeout(start, Math.min(25 * 2 ** Math.min(attempt++, 10), MAX_DELAY_MS));
  };

  start();
  return {
    subscribed,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      connection?.disconnect();
    },
  };
}
