import t from 'tap';
import { APP_KEY, runGateway, testConfig } from '../support/gateway.js';

const ask = (model: string) => ({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });

t.test(
  'D46 a reload swaps models and providers at once, and requests under way finish where they began',
  async (t) => {
    const { gateway, post } = await runGateway(t, {
      providers: { sim: { kind: 'simulator', ttft: '0ms', tokens_per_second: 100 } },
    });
    t.equal((await post('/v1/messages', ask('sim-large'))).status, 404);
    const underWay = await post('/v1/messages', { ...ask('sim-small'), max_tokens: 50, stream: true });
    await gateway.reload(
      await testConfig({
        models: [{ name: 'sim-large', provider: 'sim' }],
        credits: { free_request: { enabled: false } },
      }),
    );
    t.equal((await post('/v1/messages', ask('sim-large'))).status, 200);
    t.equal((await post('/v1/messages', ask('sim-small'))).status, 404);
    t.match(await underWay.text(), /event: message_stop/);
  },
);

t.test('D46 a reload creates what the new configuration adds and keeps what is there', async (t) => {
  const { gateway, url, post } = await runGateway(t);
  const config = await testConfig();
  const [organization] = config.bootstrap.organizations;
  const newKey = 'sk-test-second-key-of-the-suite';
  const added = { ...organization!.projects[0]!.keys[0]!, name: 'second', value: newKey };
  const projects = [{ ...organization!.projects[0]!, keys: [...organization!.projects[0]!.keys, added] }];
  await gateway.reload({ ...config, bootstrap: { organizations: [{ ...organization!, projects }] } });
  for (const key of [APP_KEY, newKey])
    t.equal((await post('/v1/messages', ask('sim-small'), { authorization: `Bearer ${key}` })).status, 200);
  t.match(await (await fetch(`${url}/metrics`)).text(), /sluice_config_reloads_total\{result="applied"\} 1/);
});

t.test('D46 a configuration that cannot be built leaves the old one in force', async (t) => {
  const { gateway, post, url } = await runGateway(t);
  const config = await testConfig({
    providers: { up: { kind: 'anthropic', base_url: 'http://127.0.0.1:1', ca_file: '/nonexistent/ca.pem' } },
    models: [{ name: 'x', provider: 'up' }],
    credits: { free_request: { enabled: false } },
  });
  await t.rejects(gateway.reload(config));
  t.equal((await post('/v1/messages', ask('sim-small'))).status, 200);
  t.match(await (await fetch(`${url}/metrics`)).text(), /sluice_config_reloads_total\{result="refused"\} 1/);
});

t.test('6.4 reloads under load fail no request', async (t) => {
  const { gateway, post } = await runGateway(t);
  const config = await testConfig();
  let over = false;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      const statuses = new Set<number>();
      while (!over) statuses.add((await post('/v1/messages', ask('sim-small'))).status);
      return statuses;
    }),
  );
  for (let turn = 0; turn < 20; turn++) await gateway.reload(config);
  over = true;
  for (const statuses of await load) t.strictSame([...statuses], [200]);
});
