import fc from 'fast-check';
import t from 'tap';
import { hostOf, readDestination } from '../../../src/io/outbound/destination.js';
import { OutboundFault } from '../../../src/io/outbound/fault.js';
import { isSpecialAddress } from '../../../src/io/outbound/special-addresses.js';

const strict = { allowInsecure: false, allowPrivateHosts: [] };
const lenient = { allowInsecure: true, allowPrivateHosts: [] };

/** The first and the last address of every range, and what stands just outside. */
const special = [
  ...[
    '0.0.0.0',
    '0.255.255.255',
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.0',
    '100.127.255.255',
    '100.100.100.200',
  ],
  ...['127.0.0.1', '127.255.255.255', '168.63.129.16', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ...['172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.0'],
  ...['192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::127.0.0.1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
  ],
  ...[
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
  ],
  ...[
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:10::1',
    '2001:db8::1',
    '2002:7f00:1::',
  ],
  ...[
    '2002:808:808::1',
    '3fff::1',
    '3fff:fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
  ],
  ...[
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'e000::1',
    'localhost',
    '',
    '1.2.3',
    '08.8.8.8',
  ],
];
const open = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...[
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.0.1',
  ],
  ...['192.169.0.1', '198.17.255.255', '198.20.0.0', '223.255.255.255', '168.63.129.15', '::ffff:8.8.8.8'],
  ...['2001:200::1', '2606:4700::1111', '2a00:1450:4001::1', '2003::1', '3ffe::1'],
];

t.test('2.1 every special-purpose address is known as one, and no other', async (t) => {
  for (const address of special) t.equal(isSpecialAddress(address), true, address);
  for (const address of open) t.equal(isSpecialAddress(address), false, address);
});

t.test('2.1 an address is judged the same however it is wrapped in IPv6', async (t) => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      t.equal(isSpecialAddress(`::ffff:${address}`), isSpecialAddress(address), address);
      t.ok(isSpecialAddress(`::${address}`));
      t.ok(isSpecialAddress(`64:ff9b::${address}`));
    }),
    { numRuns: 200 },
  );
});

const tricks = [
  ...['https://127.0.0.1', 'https://127.1', 'https://0x7f.1', 'https://2130706433', 'https://017700000001'],
  ...[
    'https://0x7f000001',
    'https://127.0.0.1.',
    'https://０x7f.1',
    'https://127。0。0。1',
    'https://%31%32%37.0.0.1',
  ],
  ...[
    'https://[::1]',
    'https://[::]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[::127.0.0.1]',
  ],
  ...['https://[0:0:0:0:0:ffff:127.0.0.1]', 'https://[64:ff9b::a9fe:a9fe]', 'https://[2002:7f00:1::]'],
  ...[
    'https://[fd00:ec2::254]',
    'https://0',
    'https://0.0.0.0',
    'https://169.254.169.254',
    'https://10.0.0.5',
  ],
  ...[
    'https://localhost',
    'https://LOCALHOST',
    'https://localhost.',
    'https://a.localhost',
    'https:127.0.0.1',
  ],
  ...['https:\\\\127.0.0.1', 'https://\t127.0.0.1', 'https://192.168.1.1:443/path', 'https://[fe80::1]'],
];

t.test('D27 no spelling of a private address passes', async (t) => {
  for (const address of tricks)
    t.throws(() => readDestination(address, strict), { kind: 'forbidden', message: /private/ }, address);
});

t.test('D27 what else an address may not be', async (t) => {
  const refused: readonly [string, RegExp][] = [
    ['http://logs.example.com', /https/],
    ['ftp://logs.example.com', /https/],
    ['file:///etc/passwd', /https/],
    ['https://user@logs.example.com', /user/],
    ['https://user:secret@logs.example.com', /user/],
    ['https://logs.example.com/?a=b', /query/],
    ['https://logs.example.com/?', /query/],
    ['https://logs.example.com/#x', /query/],
    ['https://logs.example.com:22', /port/],
    ['https://logs.example.com:6379', /port/],
    ['https://logs.example.com:80', /port/],
    ['https://', /URL/],
    ['logs.example.com', /URL/],
    ['', /URL/],
    ['https://[fe80::1%25eth0]', /URL/],
  ];
  for (const [address, message] of refused) {
    const thrown = t.throws(() => readDestination(address, strict), { kind: 'forbidden', message }, address);
    t.notMatch(String(thrown), /secret/);
  }
});

t.test('D27 what an address may be', async (t) => {
  t.strictSame(readDestination('https://Logs.Example.com:8088/base/', strict), {
    origin: 'https://logs.example.com:8088',
    host: 'logs.example.com',
    port: 8088,
    secure: true,
    basePath: '/base',
    trusted: false,
  });
  t.equal(readDestination('https://8.8.8.8', strict).host, '8.8.8.8');
  t.equal(readDestination('http://logs.example.com', lenient).port, 80);
  t.throws(() => readDestination('http://127.0.0.1', lenient), OutboundFault, 'insecure is not private');
});

t.test('D27 a host the operator named may be private and use any port; nothing else may', async (t) => {
  const rules = {
    allowInsecure: true,
    allowPrivateHosts: ['127.0.0.1', 'Splunk.Internal', '::1', '[fd00::7]'],
  };
  for (const address of [
    'http://127.0.0.1:12345',
    'http://0x7f.1:1',
    'https://splunk.internal:22',
    'https://splunk.internal.:22',
    'http://[::1]:9',
    'http://[fd00::7]:9',
  ])
    t.equal(readDestination(address, rules).trusted, true, address);
  for (const address of ['http://127.0.0.2', 'https://x.splunk.internal:22', 'http://[::2]'])
    t.throws(() => readDestination(address, rules), OutboundFault, address);
});

t.test('D27 what is no host in the operator’s list allows nothing', async (t) => {
  for (const entry of ['10.0.0.0/8', 'https://a', 'a:8080', 'user@a', '', 'a b', '[::1]:80', '[::1'])
    t.equal(hostOf(entry), null, entry);
  t.equal(hostOf('0x7f.1'), '127.0.0.1');
});
