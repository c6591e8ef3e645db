import fc from 'fast-check';
import t from 'tap';
import { defaultFlags } from '../../../src/core/upstream-flags.js';
import { Catalog, mayUse, type Model, type Target } from '../../../src/rules/models/catalog.js';
import { orderByWeight } from '../../../src/rules/models/order.js';

const price = { inputPerMtok: 1, outputPerMtok: 2, cacheReadPerMtok: 0, cacheWritePerMtok: 0 };

const target = (provider: string, more: Partial<Target> = {}): Target => ({
  provider,
  upstreamModel: null,
  weight: 1,
  flags: defaultFlags,
  messagesPath: null,
  ...more,
});

const model = (name: string, more: Partial<Model> = {}): Model => ({
  name,
  aliases: [],
  listed: [],
  targets: [target('up')],
  fallbacks: [],
  maxOutputTokens: 100,
  price,
  ...more,
});

const asked = (catalog: Catalog, name: string, draw = '') =>
  catalog.resolve(name, draw)?.choices.map(({ provider, upstreamModel }) => `${provider}:${upstreamModel}`);

t.test('exact names and aliases win over prefixes, and the longest prefix over others', async (t) => {
  const catalog = new Catalog([
    model('*', { targets: [target('any')] }),
    model('claude-*', { targets: [target('a')] }),
    model('claude-opus-*', { targets: [target('b', { upstreamModel: 'big' })] }),
    model('claude-opus-4', { aliases: ['best'], targets: [target('c')] }),
  ]);
  t.same(asked(catalog, 'claude-opus-4'), ['c:claude-opus-4']);
  t.same(asked(catalog, 'best'), ['c:claude-opus-4'], 'an alias is asked for by the name of the model');
  t.same(asked(catalog, 'claude-opus-5'), ['b:big']);
  t.same(asked(catalog, 'claude-haiku'), ['a:claude-haiku']);
  t.same(asked(catalog, 'x/y:z'), ['any:x/y:z']);
  t.equal(new Catalog([model('a')]).resolve('b', ''), null);
  t.equal(new Catalog([model('a-*')]).dearest('b'), null);
});

t.test('D42 the other targets come before the fallbacks, which bring all of theirs', async (t) => {
  const catalog = new Catalog([
    model('m', { targets: [target('a'), target('b')], fallbacks: ['n', 'gone'] }),
    model('n', { targets: [target('c', { upstreamModel: 'x' }), target('d', { weight: 0 })] }),
  ]);
  const choices = catalog.resolve('m', 'any')!.choices;
  t.same(
    choices.map(({ isFallback }) => isFallback),
    [false, false, true, true],
  );
  t.same(
    choices
      .slice(0, 2)
      .map(({ provider }) => provider)
      .toSorted(),
    ['a', 'b'],
  );
  t.same(asked(catalog, 'm', 'any')!.slice(2), ['c:x', 'd:n']);
});

t.test('the dearest of all choices is what a request may cost', async (t) => {
  const dear = { ...price, outputPerMtok: 9 };
  const catalog = new Catalog([
    model('m', { fallbacks: ['n'] }),
    model('n', { price: dear, maxOutputTokens: 7, targets: [target('a'), target('b')] }),
  ]);
  t.same(catalog.dearest('m'), { price: { ...dear, cacheReadPerMtok: 0 }, maxOutputTokens: 100 });
});

t.test('weights share the requests out, and the same request is always sent the same way', async (t) => {
  const items = [{ weight: 3 }, { weight: 1 }, { weight: 0 }];
  const first = [0, 0, 0];
  const draws = 20_000;
  for (let i = 0; i < draws; i++) first[items.indexOf(orderByWeight(items, `req_${i}`)[0]!)]!++;
  t.ok(Math.abs(first[0]! / draws - 0.75) < 0.02, String(first));
  t.ok(Math.abs(first[1]! / draws - 0.25) < 0.02, String(first));
  t.equal(first[2], 0);
});

t.test('what a failed target leaves spreads over the others by their weights', async (t) => {
  const items = [{ weight: 8 }, { weight: 3 }, { weight: 1 }];
  const second = [0, 0, 0];
  for (let i = 0; i < 20_000; i++) {
    const [one, two] = orderByWeight(items, `req_${i}`);
    if (one === items[0]) second[items.indexOf(two!)]!++;
  }
  t.ok(Math.abs(second[1]! / (second[1]! + second[2]!) - 0.75) < 0.03, String(second));
});

t.test('an order by weight holds every target once, those of weight 0 last and as written', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 6 }), fc.string(), (weights, draw) => {
      const items = weights.map((weight, index) => ({ weight, index }));
      const ordered = orderByWeight(items, draw);
      const idle = ordered.filter(({ weight }) => weight === 0);
      return (
        new Set(ordered).size === items.length &&
        ordered.slice(items.length - idle.length).every((item, at) => item === idle[at]) &&
        idle.every(({ index }, at) => at === 0 || idle[at - 1]!.index < index) &&
        orderByWeight(items, draw).every((item, at) => item === ordered[at])
      );
    }),
  );
});

const listing = new Catalog([
  model('plain', { aliases: ['other'] }),
  model('claude-*', { listed: ['claude-opus', 'claude-haiku'], aliases: ['best'], targets: [target('a')] }),
  model('org/model:free', { maxOutputTokens: 5 }),
  model('gpt-*'),
]);

const ids = (allowed: readonly string[] | null) => listing.list(allowed).map(({ id }) => id);

t.test('D16 a list shows names, aliases, and of a prefix what the operator lists', async (t) => {
  t.same(ids(null), ['plain', 'other', 'claude-opus', 'claude-haiku', 'best', 'org/model:free']);
  t.same(listing.list(null)[2], { id: 'claude-opus', provider: 'a', maxOutputTokens: 100 });
});

t.test('D33 a key sees what it may use, names of its own list that fit a prefix among it', async (t) => {
  t.same(ids(['claude-*', 'plain']), ['plain', 'claude-opus', 'claude-haiku']);
  t.same(ids(['gpt-5', 'no-such-model', 'best']), ['best', 'gpt-5']);
  t.same(ids([]), []);
  t.equal(mayUse(null, 'x'), true);
});

t.test('D16 one model is shown if the key may use it, listed or not', async (t) => {
  t.match(listing.look('gpt-9', null), { id: 'gpt-9', provider: 'up' });
  t.match(listing.look('org/model:free', ['org/*']), { maxOutputTokens: 5 });
  t.equal(listing.look('gpt-9', ['gpt-8']), null);
  t.equal(listing.look('gpt-*', null), null, 'a pattern is no model');
  t.equal(listing.look('llama', null), null);
});
