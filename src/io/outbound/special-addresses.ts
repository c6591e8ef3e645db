import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** IPv4 that is not the open internet (IANA's special-purpose registry, and where clouds keep their own doors). */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier NAT; one cloud's metadata
  '127.0.0.0/8',
  '168.63.129.16/32', // one cloud's host agent, at a public-looking address
  '169.254.0.0/16', // link-local; the other clouds' metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3', // multicast, reserved, broadcast
] as const;

/** Of IPv6 only this is the open internet ... */
const global6 = '2000::/3';
/** ... less protocol assignments (Teredo among them), documentation, and 6to4, which carries an IPv4 address. */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const;

const listOf = (family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = '', bits] = range.split('/');
    list.addSubnet(base, Number(bits), family);
  }
  return list;
};

const blocked4 = listOf('ipv4', special4);
const open6 = listOf('ipv6', [global6]);
const blocked6 = listOf('ipv6', special6);

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Whether an address may be private, local or otherwise not the open internet; what is no address is. */
export const isSpecialAddress = (text: string): boolean => {
  if (isIPv4(text)) return blocked4.check(text, 'ipv4');
  const bare = text.split('%', 1)[0]!; // a zone names an interface of this machine
  if (!isIPv6(bare)) return true;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return blocked4.check(mapped, 'ipv4');
  return !open6.check(address, 'ipv6') || blocked6.check(address, 'ipv6');
};
