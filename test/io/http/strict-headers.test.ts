import t from 'tap';
import { checkHeaders } from '../../../src/io/http/strict-headers.js';

const check = (...rawHeaders: string[]) =>
  checkHeaders({ rawHeaders, httpVersionMajor: 1, httpVersionMinor: 1 });

t.test('ordinary headers pass, repeated ones too where that has one meaning', async (t) => {
  t.equal(
    check(
      'Host',
      'a',
      'Authorization',
      'Bearer x',
      'Accept',
      'a',
      'Accept',
      'b',
      'X-Forwarded-For',
      '1.2.3.4',
      'x-forwarded-for',
      '5.6.7.8',
    ),
    null,
  );
  t.equal(check('Host', 'a', '__proto__', 'x', '__proto__', 'y', 'constructor', 'z'), null);
});

for (const name of [
  'Host',
  'Authorization',
  'X-Api-Key',
  'Content-Length',
  'Content-Type',
  'Idempotency-Key',
  'X-Free-Tier',
])
  t.test(`${name} sent twice is a fault, whatever the case and the value`, async (t) => {
    const host = name === 'Host' ? [] : ['Host', 'a'];
    t.match(check(...host, name, 'v', 'accept', '*/*', name.toUpperCase(), 'v'), {
      kind: 'repeated',
      header: name.toLowerCase(),
    });
    t.equal(check(...host, name, 'v'), null);
  });

t.test('a compressed body is refused, an identity one is not', async (t) => {
  for (const value of ['gzip', 'br', 'deflate', 'identity, gzip', 'GZIP', 'zstd', ''])
    t.match(check('Host', 'a', 'Content-Encoding', value), { kind: 'encoding' }, value);
  t.equal(check('Host', 'a', 'Content-Encoding', ' Identity '), null);
  t.match(check('Host', 'a', 'Content-Encoding', 'identity', 'content-encoding', 'gzip'), {
    kind: 'encoding',
  });
});

t.test('only chunked is a transfer encoding and only 100-continue an expectation', async (t) => {
  t.equal(check('Host', 'a', 'Transfer-Encoding', 'Chunked', 'Expect', '100-Continue'), null);
  t.match(check('Host', 'a', 'Transfer-Encoding', 'gzip, chunked'), {
    kind: 'invalid',
    header: 'transfer-encoding',
  });
  t.match(check('Host', 'a', 'Expect', 'payment'), { kind: 'invalid', header: 'expect' });
});

t.test('HTTP/1.1 needs a host, HTTP/1.0 does not', async (t) => {
  t.match(check('Accept', '*/*'), { kind: 'invalid', header: 'host' });
  t.equal(checkHeaders({ rawHeaders: [], httpVersionMajor: 1, httpVersionMinor: 0 }), null);
});
