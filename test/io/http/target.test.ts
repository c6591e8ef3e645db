import fc from 'fast-check';
import t from 'tap';
import { parseTarget } from '../../../src/io/http/target.js';

t.test('a plain path and its query are read', async (t) => {
  const target = parseTarget('/v1/organization/policies/pol_1?after=pol_0&limit=20&q=a%20b+c');
  t.equal(target.ok, true);
  if (!target.ok) return;
  t.equal(target.path, '/v1/organization/policies/pol_1');
  t.strictSame(
    [...target.query],
    [
      ['after', 'pol_0'],
      ['limit', '20'],
      ['q', 'a b c'],
    ],
  );
});

t.test('escapes of ordinary characters are decoded once', async (t) => {
  const pathOf = (text: string): unknown => {
    const target = parseTarget(text);
    return target.ok && target.path;
  };
  t.equal(pathOf('/v1/%6dessages'), '/v1/messages');
  t.equal(pathOf('/v1/models/caf%C3%A9'), '/v1/models/café');
  t.equal(pathOf('/v1/models/100%2525'), '/v1/models/100%25');
  t.equal(pathOf('/'), '/');
  t.equal(pathOf('/v1/messages/'), '/v1/messages/');
  t.equal(pathOf('/v1/...'), '/v1/...');
});

const refused = {
  'absolute form': 'http://evil.example/v1/messages',
  'authority form': 'evil.example:443',
  'asterisk form': '*',
  nothing: '',
  'a query alone': '?a=b',
  'a second slash in front': '//evil.example/v1',
  'an empty segment': '/v1//messages',
  'an encoded slash': '/v1/a%2fb',
  'an encoded slash, capital': '/v1/a%2Fb',
  'an encoded backslash': '/v1/a%5Cb',
  'a backslash': '/v1\\messages',
  'a parent segment': '/v1/../admin',
  'a parent segment at the end': '/v1/..',
  'an encoded parent segment': '/v1/%2e%2E/admin',
  'a half encoded parent segment': '/v1/.%2e/admin',
  'a dot segment': '/v1/./messages',
  'a NUL': '/v1/\0',
  'an encoded NUL': '/v1/%00',
  'an encoded line end': '/v1/a%0d%0ab',
  'an encoded C1 control': '/v1/%C2%85',
  'a delete character': '/v1/\x7f',
  'a broken escape': '/v1/%zz',
  'a cut escape': '/v1/%4',
  'overlong UTF-8': '/v1/%c0%af',
  'a lone continuation byte': '/v1/%80',
  'an encoded surrogate': '/v1/%ed%a0%80',
  'raw bytes above ASCII': '/v1/caf\xe9',
  'a fragment': '/v1/messages#x',
  'a fragment in the query': '/v1/messages?a=b#x',
  'a space': '/v1/a b',
  'a NUL in the query': '/v1?a=%00',
  'bad UTF-8 in the query': '/v1?a=%ff',
  'a broken escape in the query': '/v1?a=%',
  'a backslash in the query': '/v1?a=\\',
};
for (const [what, text] of Object.entries(refused))
  t.test(`${what} in the target is refused`, async (t) => {
    const target = parseTarget(text);
    t.equal(target.ok, false);
    if (!target.ok) t.match(target.message, /\.$/);
  });

t.test('whatever is accepted is a normal path that decodes to itself', async () => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2f',
    '%',
    '%00',
    'a',
    '\\',
    '%C3%A9',
    '%25',
    '?',
    '#',
    '\0',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const target = parseTarget(`/${pieces.join('')}`);
      if (!target.ok) return true;
      const segments = target.path.slice(1).split('/');
      return (
        target.path.startsWith('/') &&
        !/[\\\p{Cc}]/u.test(target.path) &&
        !segments.some((s) => s === '.' || s === '..') &&
        !segments.slice(0, -1).includes('')
      );
    }),
  );
});
