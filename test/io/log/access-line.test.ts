import t from 'tap';
import type { Log } from '../../../src/core/log.js';
import { writeAccessLine, type Access } from '../../../src/io/log/access-line.js';
import { createLog } from '../../../src/io/log/log.js';

const access: Access = {
  requestId: 'req_1',
  clientRequestId: null,
  operation: 'create_message',
  method: 'POST',
  path: '/v1/messages',
  status: 200,
  durationMs: 12.345678,
  overheadMs: 0.4,
  upstreamWaitMs: 8,
  organizationId: 'org_demo',
  projectId: 'proj_app',
  keyId: 'key_1',
  model: 'sim-small',
  provider: 'sim',
  usage: { input: 3, cacheRead: 1, cacheWrite: 0, output: 9, reasoning: 2 },
  credits: 4,
  delivery: 'complete',
  errorCode: null,
  clientAddress: '127.0.0.1',
  routine: false,
};

function lineOf(changes: Partial<Access>): {
  level: string;
  fields: Record<string, unknown>;
  message: string;
} {
  const written: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void written.push({ level, fields: { ...fields }, message });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  writeAccessLine(log, { ...access, ...changes });
  t.equal(written.length, 1);
  return written[0]!;
}

t.test('one line tells who asked what, how it ended and what it took', async (t) => {
  t.same(lineOf({}), {
    level: 'info',
    message: 'POST /v1/messages 200',
    fields: {
      request_id: 'req_1',
      operation: 'create_message',
      method: 'POST',
      path: '/v1/messages',
      status: 200,
      duration_ms: 12.346,
      overhead_ms: 0.4,
      upstream_wait_ms: 8,
      organization_id: 'org_demo',
      project_id: 'proj_app',
      key_id: 'key_1',
      model: 'sim-small',
      provider: 'sim',
      input_tokens: 3,
      cache_read_tokens: 1,
      cache_write_tokens: 0,
      output_tokens: 9,
      credits: 4,
      delivery: 'complete',
      client_address: '127.0.0.1',
    },
  });
});

t.test('every field of the line is one the log writes', async (t) => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    format: 'json',
    version: '0',
    stream: { write: (line) => void lines.push(line) },
  });
  writeAccessLine(log, { ...access, clientRequestId: 'mine', errorCode: 'overloaded', status: 503 });
  t.notMatch(lines.join(''), 'dropped_fields');
  t.match(lines.join(''), '"error_code":"overloaded"');
});

t.test("D16 the client's own id is written only if it looks like one", async (t) => {
  t.equal(lineOf({ clientRequestId: 'Run-42_b' }).fields['client_request_id'], 'Run-42_b');
  for (const id of ['', 'a b', 'a\nb', 'x'.repeat(65), '{"a":1}', 'é'])
    t.notOk('client_request_id' in lineOf({ clientRequestId: id }).fields, JSON.stringify(id));
});

t.test('the level says whether an operator should look', async (t) => {
  t.equal(lineOf({ status: 503 }).level, 'error');
  t.equal(lineOf({ status: 401 }).level, 'warn');
  t.equal(lineOf({ status: 429 }).level, 'warn');
  t.equal(lineOf({ delivery: 'upstream_failed' }).level, 'warn');
  t.equal(lineOf({ delivery: 'client_left' }).level, 'info');
  t.equal(lineOf({ status: 404 }).level, 'info');
  t.equal(lineOf({ routine: true }).level, 'debug');
  t.equal(lineOf({ routine: true, status: 503 }).level, 'error');
});
