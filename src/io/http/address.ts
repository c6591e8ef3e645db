import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** One spelling for one address: IPv4 out of its IPv6 wrapping, IPv6 compressed, no zone. undefined = no address. */
export const normaliseAddress = (text: string): string | undefined => {
  if (isIPv4(text)) return text;
  const bare = text.split('%', 1)[0]!;
  if (!isIPv6(bare)) return undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
};

/** A hop of X-Forwarded-For, which some proxies write with a port. */
const readHop = (hop: string): string | undefined => {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return normaliseAddress(bracketed);
  return normaliseAddress(text) ?? normaliseAddress(text.replace(/:\d{1,5}$/, ''));
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const trust = (list: BlockList, entry: string): void => {
  const [base = '', prefix, ...more] = entry.split('/');
  const bits = Number(prefix);
  const widest = isIPv4(base) ? 32 : 128;
  if (isIP(base) === 0 || more.length > 0)
    throw new Error(`"${entry}" is neither an address nor a CIDR range.`);
  if (prefix === undefined) {
    const address = normaliseAddress(base)!;
    list.addAddress(address, familyOf(address));
  } else if (/^\d{1,3}$/.test(prefix) && bits <= widest) list.addSubnet(base, bits, familyOf(base));
  else throw new Error(`"${entry}" has a prefix outside 0-${widest}.`);
};

/** Who is calling, as far as it can be believed. */
export type FindClient = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * The client's address behind these proxies (addresses or CIDR ranges). X-Forwarded-For is read from the right, and
 * only as long as the hop that wrote the entry is trusted: what stands left of that anyone may have made up.
 */
export const findClientBehind = (trustedProxies: readonly string[]): FindClient => {
  const trusted = new BlockList();
  for (const entry of trustedProxies) trust(trusted, entry);
  const nobodyTrusted = trustedProxies.length === 0;

  return (socketAddress, forwardedFor) => {
    let client = socketAddress === undefined ? undefined : normaliseAddress(socketAddress);
    if (client === undefined) return 'unknown';
    if (nobodyTrusted || forwardedFor === undefined) return client;
    const hops = forwardedFor.split(',');
    while (hops.length > 0 && trusted.check(client, familyOf(client))) {
      const hop = readHop(hops.pop()!);
      if (hop === undefined) break;
      client = hop;
    }
    return client;
  };
};

/** What counts as one subscriber: an IPv4 address, or the /64 an IPv6 address lies in. */
export const subnetOf = (address: string): string => {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(gap).fill('0'), ...right];
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
};
