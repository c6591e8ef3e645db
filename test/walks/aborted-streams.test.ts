import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { generousLimits, runGateway, until } from '../support/gateway.js';
import { readExposition } from '../support/exposition.js';
import { openStream, simulated } from '../support/inference.js';
import { testOnEachStore } from '../support/stores.js';

const STREAMS = 500; // on each store
const AT_ONCE = 50;
const TOKENS = 40;

const CREDITS = 10_000_000;

/** Counts the deltas the gateway writes to the sockets of its clients. */
const countDelivered = (): { readonly delivered: () => number; stop(): void } => {
  let count = 0;
  const onStart = (message: unknown): void => {
    const { response } = message as { response: ServerResponse };
    const write = response.write.bind(response) as (chunk: unknown, ...rest: unknown[]) => boolean;
    response.write = (chunk: unknown, ...rest: unknown[]): boolean => {
      if (Buffer.isBuffer(chunk))
        count += chunk.toString('latin1').split('event: content_block_delta').length - 1;
      return write(chunk, ...rest);
    };
  };
  subscribe('http.server.request.start', onStart);
  return { delivered: () => count, stop: () => void unsubscribe('http.server.request.start', onStart) };
};

testOnEachStore(
  '8 streams aborted at random points leave no lease, and cost what was delivered, to the token',
  async (t, changes) => {
    const watched = countDelivered();
    t.teardown(() => watched.stop());
    const running = await runGateway(t, {
      ...changes,
      limits: generousLimits,
      providers: { sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 400 } },
      // A token of the answer is a credit, those of the question cost nothing.
      models: [{ name: 'sim-small', provider: 'sim', price: { input_per_mtok: 0, output_per_mtok: 100 } }],
      bootstrap: {
        organizations: [
          {
            id: 'org_test',
            name: 'Test',
            credits: CREDITS,
            admin_keys: [{ name: 'root', value: 'sk-test-admin-key-of-the-suite' }],
            projects: [
              { id: 'proj_app', name: 'App', keys: [{ name: 'app', value: 'sk-test-app-key-of-the-suite' }] },
            ],
          },
        ],
      },
    });
    let left = 0;
    const leaveSomewhere = async (): Promise<void> => {
      const at = 1 + Math.floor(Math.random() * TOKENS);
      const stream = await openStream(
        running.url,
        simulated(`[[tokens=${TOKENS}]]`, { max_tokens: TOKENS }),
        {
          onDelta: (count, leave) => {
            if (count !== at) return;
            left++;
            leave();
          },
        },
      );
      await stream.ended;
    };
    for (let done = 0; done < STREAMS; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, leaveSomewhere));
    t.equal(left, STREAMS, 'every client left before the end');

    const leases = async (): Promise<number | undefined> => {
      const text = await (await fetch(`${running.url}/metrics`)).text();
      return readExposition(text).find(({ name }) => name === 'sluice_limit_leases')?.value;
    };
    await until(async () => (await leases()) === 0, 'no lease is left', 2_000);

    const limits = (await (
      await running.call('GET', '/v1/limits', { key: 'sk-test-app-key-of-the-suite' })
    ).json()) as { limits: { scope: string; metric: string; used: number }[] };
    const used = (scope: string, metric: string): number | undefined =>
      limits.limits.find((each) => each.scope === scope && each.metric === metric)?.used;
    for (const scope of ['key', 'project', 'organization'])
      t.equal(used(scope, 'concurrent_requests'), 0, scope);

    const usage = (await (await running.call('GET', '/v1/organization/usage')).json()) as {
      data: { requests: number; output_tokens: number; input_tokens: number; credits: number }[];
    };
    const [row] = usage.data;
    t.equal(row?.requests, STREAMS);
    t.equal(row?.output_tokens, watched.delivered(), 'tokens are those written to the clients');
    t.equal(row?.credits, watched.delivered());
    t.equal(
      used('organization', 'tokens_per_day'),
      row!.input_tokens + row!.output_tokens,
      'no reservation stays',
    );
    const credits = (await (
      await running.call('GET', '/v1/credits', { key: 'sk-test-app-key-of-the-suite' })
    ).json()) as { remaining_credits: number };
    t.equal(credits.remaining_credits, CREDITS - watched.delivered());
  },
);

t.setTimeout(120_000);
