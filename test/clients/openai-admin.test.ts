import OpenAI from 'openai';
import t from 'tap';
import { ADMIN_KEY, runGateway } from '../support/gateway.js';
import { testOnEachStore } from '../support/stores.js';

const clientOf = (url: string, adminAPIKey = ADMIN_KEY): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, adminAPIKey, apiKey: 'unused', maxRetries: 0 });

testOnEachStore('4.6 the openai SDK walks the pages of administrator keys by itself', async (t, changes) => {
  const { url } = await runGateway(t, changes);
  const { adminAPIKeys } = clientOf(url).admin.organization;
  const made: string[] = [];
  for (let i = 0; i < 7; i++) made.push((await adminAPIKeys.create({ name: `key ${i}` })).id);

  const walked: string[] = [];
  for await (const key of adminAPIKeys.list({ limit: 3 })) walked.push(key.id);
  t.equal(walked.length, 8, 'with the one that asks');
  t.strictSame(walked, walked.toSorted(), 'each once, in order');
  t.strictSame(
    walked.filter((id) => made.includes(id)),
    made,
  );

  const idsOf = (page: { readonly data: readonly { readonly id: string }[] }) =>
    page.data.map(({ id }) => id);
  const page = await adminAPIKeys.list({ limit: 3, after: walked[2]! });
  t.strictSame(idsOf(page), walked.slice(3, 6));
  t.equal(page.hasNextPage(), true);
  const next = await page.getNextPage();
  t.strictSame(idsOf(next), walked.slice(6));
  t.equal(next.hasNextPage(), false);
  t.strictSame(idsOf(await adminAPIKeys.list({ limit: 1, order: 'desc' })), walked.slice(7));
});

t.test('D12 the openai SDK creates, reads and revokes an administrator key', async (t) => {
  const { url } = await runGateway(t);
  const { adminAPIKeys } = clientOf(url).admin.organization;
  const created = await adminAPIKeys.create({ name: 'ci', expires_in_seconds: 600 });
  t.match(created, { object: 'organization.admin_api_key', value: /^sk-sl-admin-/, expires_at: Number });
  t.match(await adminAPIKeys.retrieve(created.id), { id: created.id, name: 'ci' });
  t.equal((await clientOf(url, created.value).admin.organization.adminAPIKeys.list()).data.length, 2);
  t.strictSame(await adminAPIKeys.delete(created.id), {
    id: created.id,
    object: 'organization.admin_api_key.deleted',
    deleted: true,
  });
  await t.rejects(adminAPIKeys.retrieve(created.id), {
    status: 404,
    code: 'not_found',
    type: 'not_found_error',
  });
  await t.rejects(clientOf(url, created.value).admin.organization.adminAPIKeys.list(), {
    status: 401,
    code: 'revoked_api_key',
  });
});

t.test('D12 the openai SDK makes projects and lists their keys', async (t) => {
  const { url, call } = await runGateway(t);
  const { projects } = clientOf(url).admin.organization;
  const project = await projects.create({ name: 'Chat' });
  t.match(await projects.retrieve(project.id), { id: project.id, name: 'Chat', status: 'active' });
  const names: unknown[] = [];
  for await (const each of projects.list({ limit: 1 })) names.push(each.name);
  t.strictSame(names.toSorted(), ['App', 'Chat']);
  for (const name of ['a', 'b', 'c'])
    await call('POST', `/v1/organization/projects/${project.id}/api_keys`, { body: { name } });
  const keys: string[] = [];
  for await (const key of projects.apiKeys.list(project.id, { limit: 2 })) keys.push(key.name);
  t.strictSame(keys, ['a', 'b', 'c']);
});
