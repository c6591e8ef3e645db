import fc from 'fast-check';
import t from 'tap';
import { findClientBehind, normaliseAddress, subnetOf } from '../../../src/io/http/address.js';

t.test('D34 without trusted proxies the socket speaks, whatever a header says', async (t) => {
  const find = findClientBehind([]);
  t.equal(find('203.0.113.9', '1.2.3.4'), '203.0.113.9');
  t.equal(find('::ffff:203.0.113.9', undefined), '203.0.113.9');
  t.equal(find(undefined, '1.2.3.4'), 'unknown');
});

t.test('D34 X-Forwarded-For is read from the right while the hop is trusted', async (t) => {
  const find = findClientBehind(['10.0.0.0/8', '192.0.2.7', '2001:db8:ff::/48']);
  t.equal(find('10.1.2.3', '1.2.3.4'), '1.2.3.4');
  t.equal(find('::ffff:10.1.2.3', '6.6.6.6, 1.2.3.4, 192.0.2.7, 10.9.9.9'), '1.2.3.4');
  t.equal(find('2001:db8:ff::1', '1.2.3.4'), '1.2.3.4');
  t.equal(find('198.51.100.1', '1.2.3.4'), '198.51.100.1', 'an untrusted socket is the client');
  t.equal(find('10.1.2.3', undefined), '10.1.2.3');
  t.equal(find('10.1.2.3', '10.0.0.1, 10.0.0.2'), '10.0.0.1', 'all trusted: the leftmost');
});

t.test('D34 hops may carry ports and brackets; what is no address ends the search', async (t) => {
  const find = findClientBehind(['10.0.0.0/8']);
  t.equal(find('10.0.0.1', '1.2.3.4:51000'), '1.2.3.4');
  t.equal(find('10.0.0.1', '[2001:DB8::1]:443'), '2001:db8::1');
  t.equal(find('10.0.0.1', '2001:db8:0:0::1'), '2001:db8::1');
  t.equal(find('10.0.0.1', '1.2.3.4, unknown'), '10.0.0.1');
  t.equal(find('10.0.0.1', '1.2.3.4, , 10.0.0.2'), '10.0.0.2');
  t.equal(find('10.0.0.1', ''), '10.0.0.1');
});

t.test('D34 a proxy list that means nothing is refused at the start', async (t) => {
  for (const entry of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8', ''])
    t.throws(() => findClientBehind([entry]), /is neither|prefix/, entry);
});

t.test('D34 an IPv6 subscriber is its /64, an IPv4 one its address', async (t) => {
  t.equal(subnetOf('203.0.113.9'), '203.0.113.9');
  t.equal(subnetOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  t.equal(subnetOf('2001:db8::1'), '2001:db8:0:0::/64');
  t.equal(subnetOf('::1'), '0:0:0:0::/64');
  t.equal(subnetOf('unknown'), 'unknown');
});

t.test('D34 every spelling of an address has one subnet, and neighbours share it', async () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 8, maxLength: 8 }),
      fc.array(group, { minLength: 4, maxLength: 4 }),
      (groups, others) => {
        const spell = (list: number[]): string => list.map((g) => g.toString(16).padStart(4, '0')).join(':');
        const full = spell(groups);
        const prefix = groups
          .slice(0, 4)
          .map((g) => g.toString(16))
          .join(':');
        const neighbour = spell([...groups.slice(0, 4), ...others]);
        return (
          subnetOf(full) === `${prefix}::/64` &&
          subnetOf(neighbour) === subnetOf(full) &&
          [full, normaliseAddress(full)!].every((a) => a.includes('.') || subnetOf(a) === subnetOf(full))
        );
      },
    ),
  );
});
