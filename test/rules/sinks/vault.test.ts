import fc from 'fast-check';
import t from 'tap';
import { createVault } from '../../../src/rules/sinks/vault.js';

const pepper = Buffer.from('a-pepper-of-the-suite-0123456789abcdef');
const place = { organizationId: 'org_1', sinkId: 'exp_1', field: 'token' };

t.test('D27 a sealed secret opens again, and shows nothing of itself', async (t) => {
  const vault = createVault(pepper);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (secret) => {
      const sealed = vault.seal(secret, place);
      t.equal(createVault(pepper).open(sealed, place), secret);
      t.notOk(sealed.includes(secret));
      t.not(vault.seal(secret, place), sealed, 'never the same twice');
    }),
    { numRuns: 50 },
  );
});

t.test('D27 it opens for no other place, under no other pepper, and not when it was touched', async (t) => {
  const vault = createVault(pepper);
  const sealed = vault.seal('the secret', place);
  t.equal(vault.open(sealed, { ...place, organizationId: 'org_2' }), null);
  t.equal(vault.open(sealed, { ...place, sinkId: 'exp_2' }), null);
  t.equal(vault.open(sealed, { ...place, field: 'api_key' }), null);
  t.equal(createVault(Buffer.from('another-pepper-0123456789abcdef-012')).open(sealed, place), null);
  const at = sealed.lastIndexOf('.') + 3;
  const touched = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
  t.equal(vault.open(touched, place), null);
  for (const nonsense of [
    '',
    '1',
    '1.x.y.z',
    sealed.replace(/^1/, '2'),
    sealed.split('.').slice(0, 3).join('.'),
  ])
    t.equal(vault.open(nonsense, place), null, nonsense);
});
