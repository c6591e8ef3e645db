import * as v from 'valibot';
import { duration, integer, required, setting, word } from './values.js';

const redisUrl = v.pipe(
  v.string(),
  v.check(
    (text) => text === '' || (/^rediss?:\/\//.test(text) && URL.canParse(text)),
    'must be a redis:// or rediss:// address',
  ),
);

const node = v.pipe(v.string(), v.regex(/^(?:[^\s:]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/, 'must be host:port'));

const sentinel = v.strictObject({
  master: required('Name of the master that the sentinels watch.', word()),
  nodes: required('The sentinels, as host:port.', v.pipe(v.array(node), v.minLength(1, 'name at least one'))),
  password: setting("The sentinels' own password.", v.string(), ''),
});

const redis = v.strictObject({
  url: setting(
    'redis:// or rediss:// (TLS) with user, password and database. With cluster or sentinel, only its user, password, database and TLS are used.',
    redisUrl,
    'redis://127.0.0.1:6379/0',
  ),
  cluster: setting('Nodes of a Redis Cluster, as host:port; empty = no cluster.', v.array(node), []),
  sentinel: setting('A Sentinel deployment; null = none.', v.nullable(sentinel), null),
  key_prefix: setting(
    'Put before every key.',
    v.pipe(v.string(), v.regex(/^[^\s{}]{0,64}$/, 'must have no spaces or braces and at most 64 characters')),
    'sl:',
  ),
  command_timeout: setting('A command that takes longer has failed.', duration(1, 60_000), '250ms'),
  on_unavailable: setting(
    'Limits while Redis is away: local (each replica enforces its share), closed (503), open (no limits).',
    v.picklist(['local', 'closed', 'open']),
    'local',
  ),
  replicas_hint: setting(
    'How many gateways share the store; divides limits in local mode.',
    integer(1, 10_000),
    1,
  ),
});

export const store = v.strictObject({
  kind: setting(
    'embedded (one process, files) or redis (any number).',
    v.picklist(['embedded', 'redis']),
    'embedded',
  ),
  path: setting('Folder of the embedded store; ":memory:" keeps nothing.', word(4096), './.sluice'),
  redis: setting('The shared store, used when kind is redis.', redis, {}),
});
