import fc from 'fast-check';
import t from 'tap';
import {
  digestOf,
  encodeBase62,
  looksLikeJwt,
  mintSecret,
  redact,
  sameDigest,
  secretFault,
} from '../../../src/rules/auth/secrets.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const decode = (text: string): bigint =>
  Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);

t.test('D33 a project key is sk-sl- and an admin key sk-sl-admin- with 49 base-62 digits', async (t) => {
  for (let i = 0; i < 200; i++) {
    t.match(mintSecret('project'), /^sk-sl-[0-9A-Za-z]{49}$/);
    t.match(mintSecret('admin'), /^sk-sl-admin-[0-9A-Za-z]{49}$/);
  }
});

t.test('D33 every minted key passes the shape check and no two are alike', async (t) => {
  const minted = Array.from({ length: 500 }, (_, i) => mintSecret(i % 2 ? 'admin' : 'project'));
  t.equal(new Set(minted).size, 500);
  for (const secret of minted) t.equal(secretFault(secret), null);
});

t.test('base 62 keeps its width and gives back every number of 32 bytes', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (number) => {
      const text = encodeBase62(number, 43);
      return text.length === 43 && decode(text) === number;
    }),
  );
});

t.test('one changed character of a minted key is found without asking the store', async (t) => {
  const position = fc.integer({ min: 6, max: 54 });
  fc.assert(
    fc.property(position, fc.constantFrom(...Array.from(DIGITS)), (at, digit) => {
      const secret = mintSecret('project');
      const changed = secret.slice(0, at) + digit + secret.slice(at + 1);
      return changed === secret || secretFault(changed) !== null;
    }),
  );
  t.match(
    secretFault(`${mintSecret('admin').slice(0, -1)}-`),
    null,
    'another shape is an operator’s own secret',
  );
});

t.test('D47 an operator’s own secret has 20 to 512 visible ASCII characters', async (t) => {
  t.equal(secretFault('x'.repeat(20)), null);
  t.equal(secretFault('~'.repeat(512)), null);
  for (const bad of [
    '',
    'x'.repeat(19),
    'x'.repeat(513),
    `${'x'.repeat(20)} x`,
    `${'x'.repeat(20)}\n`,
    'é'.repeat(30),
  ])
    t.type(secretFault(bad), 'string', JSON.stringify(bad.slice(0, 25)));
  t.match(secretFault('aaaaaaaaaa.bbbbbbbbbb.cccccccccc'), /JWT/);
});

t.test('D33 three dot-separated parts, and nothing else, are a JWT', async (t) => {
  t.ok(looksLikeJwt('a.b.c'));
  t.ok(looksLikeJwt('a.b.'), 'an unsigned one too: it is refused as a JWT');
  for (const other of ['a', 'a.b', 'a.b.c.d', 'a.b.c.d.e']) t.notOk(looksLikeJwt(other));
});

t.test('D3 a digest depends on the whole secret and on the pepper', async (t) => {
  const pepper = Buffer.alloc(32, 1);
  const digest = digestOf(pepper, 'a-secret-of-20-chars');
  t.match(digest, /^[0-9a-f]{64}$/);
  t.ok(sameDigest(digest, digestOf(pepper, 'a-secret-of-20-chars')));
  t.notOk(sameDigest(digest, digestOf(pepper, 'a-secret-of-20-charz')));
  t.notOk(sameDigest(digest, digestOf(Buffer.alloc(32, 2), 'a-secret-of-20-chars')));
  t.notOk(sameDigest(digest, digest.slice(2)));
});

t.test('D3 a redacted key shows its first 8 and last 4 characters', async (t) => {
  t.equal(redact('sk-sl-ABCDEFGHIJKLMNOP'), 'sk-sl-AB...MNOP');
});
