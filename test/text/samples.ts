import { createHash } from 'node:crypto';
import { isCardNumber, isIban } from '../../src/text/checksums.js';
import type { ValueKind } from '../../src/text/redact.js';

/** Always the same numbers: a failing sample can be looked at again. */
const makeRandom = (seed: number) => {
  let state = seed;
  const below = (bound: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
  const pick = <T>(of: ArrayLike<T>): T => of[below(of.length)]!;
  const from = (characters: string, length: number): string =>
    Array.from({ length }, () => pick(characters)).join('');
  return { below, pick, from, digits: (length: number): string => from('0123456789', length) };
};

const lower = 'abcdefghijklmnopqrstuvwxyz';
const alphanumeric = `${lower}${lower.toUpperCase()}0123456789`;

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** Tries digits at the end until the check passes. */
const complete = (head: string, passes: (candidate: string) => boolean, tail = 2): string => {
  for (let n = 0; n < 10 ** tail; n++) {
    const candidate = head + String(n).padStart(tail, '0');
    if (passes(candidate)) return candidate;
  }
  throw new Error(`no check digit completes ${head}`);
};

const inFours = (text: string, gap: string): string => text.match(/.{1,4}/g)!.join(gap);

/** Values that must be found, by kind. */
export const made = (count: number): Record<ValueKind, string[]> => {
  const { below, pick, from, digits } = makeRandom(20_310_131);
  const name = (): string => from(lower, 3 + below(7));
  const area = (): string => `${pick('23456789')}${digits(2)}`;
  const secretMakers = [
    () => `sk-${from(alphanumeric, 48)}`,
    () => `sk-ant-api03-${from(`${alphanumeric}-_`, 93)}AA`,
    () => `sk-proj-${from(`${alphanumeric}-_`, 100)}`,
    () => `${pick(['AKIA', 'ASIA'])}${from(alphanumeric.slice(26), 16).toUpperCase()}`,
    () => `${pick(['ghp_', 'gho_'])}${from(alphanumeric, 36)}`,
    () => `github_pat_${from(alphanumeric, 22)}_${from(alphanumeric, 59)}`,
    () => `glpat-${from(`${alphanumeric}-_`, 20)}`,
    () => `xox${pick('bp')}-${digits(12)}-${digits(12)}-${from(alphanumeric, 24)}`,
    () => `AIza${from(`${alphanumeric}-_`, 35)}`,
    () => `${pick(['sk', 'rk'])}_live_${from(alphanumeric, 24)}`,
    () => `eyJ${from(alphanumeric, 33)}.eyJ${from(alphanumeric, 80)}.${from(`${alphanumeric}-_`, 43)}`,
    () => `-----BEGIN EC PRIVATE KEY-----\n${from(alphanumeric, 64)}\n-----END EC PRIVATE KEY-----`,
  ];
  const phoneMakers = [
    () => `(${area()}) ${digits(3)}-${digits(4)}`,
    () => `${area()}-${digits(3)}-${digits(4)}`,
    () => `${area()}.${digits(3)}.${digits(4)}`,
    () => `+1 ${area()} ${digits(3)} ${digits(4)}`,
    () => `+1${area()}${digits(7)}`,
    () => `+44 20 ${digits(4)} ${digits(4)}`,
    () => `+49 ${pick(['30', '40', '89'])} ${digits(7)}`,
    () => `+33 6 ${digits(2)} ${digits(2)} ${digits(2)} ${digits(2)}`,
    () => `1-800-${digits(3)}-${digits(4)}`,
  ];
  const cardMakers = [
    () => complete(`4${digits(14)}`, isCardNumber, 1),
    () => complete(`5${pick('12345')}${digits(13)}`, isCardNumber, 1),
    () => complete(`3${pick('47')}${digits(12)}`, isCardNumber, 1),
    () => complete(`6011${digits(11)}`, isCardNumber, 1),
    () => inFours(complete(`4${digits(14)}`, isCardNumber, 1), ' '),
    () => inFours(complete(`2${pick('345')}${digits(13)}`, isCardNumber, 1), '-'),
  ];
  const ibanOf = (country: string, length: number): string => {
    const body = digits(length - 4);
    for (let check = 2; check < 99; check++) {
      const iban = `${country}${String(check).padStart(2, '0')}${body}`;
      if (isIban(iban)) return iban;
    }
    throw new Error('no check digits');
  };
  const countries = [
    ['DE', 22],
    ['FR', 27],
    ['ES', 24],
    ['AT', 20],
    ['BE', 16],
    ['PL', 28],
    ['NO', 15],
  ] as const;
  const makeIban = (n: number): string => {
    const [country, length] = pick(countries);
    const iban = ibanOf(country, length);
    return n % 2 === 0 ? iban : inFours(iban, ' ');
  };
  return {
    email: times(
      count,
      () =>
        `${name()}${pick(['', '.', '_', '+', '-'])}${name()}${pick(['', digits(2)])}@${name()}.${pick(['com', 'org', 'co.uk', 'io', 'museum'])}`,
    ),
    phone: times(count, () => pick(phoneMakers)()),
    card: times(count, () => pick(cardMakers)()),
    ssn: times(
      count,
      () => `${1 + below(6)}${1 + below(6)}${below(6)}-${10 + below(90)}-${1 + below(9)}${digits(3)}`,
    ),
    iban: times(count, makeIban),
    secret: times(count, () => pick(secretMakers)()),
  };
};

/** What looks like one of them and is none. */
export const lookalikes = (perKind: number): string[] => {
  const { below, pick, from, digits } = makeRandom(19_700_101);
  const hex = (length: number): string => from('0123456789abcdef', length);
  const two = (bound: number): string => String(1 + below(bound)).padStart(2, '0');
  const makers = [
    () => `${pick(['ORD-', '#', 'INV-2024-', 'order '])}${digits(6 + below(7))}`,
    () => `${digits(3)}-${digits(7)}-${digits(7)}`,
    () =>
      createHash(pick(['md5', 'sha1', 'sha256']))
        .update(digits(8))
        .digest('hex'),
    () => `${hex(8)}-${hex(4)}-4${hex(3)}-${hex(4)}-${hex(12)}`,
    () => `20${two(30)}-${two(12)}-${two(28)}T${two(23)}:${two(59)}:${two(59)}.${digits(3)}Z`,
    () => `${two(28)}.${two(12)}.20${two(30)} ${two(23)}:${two(59)}`,
    () => `${two(12)}/${two(28)}/20${two(30)}`,
    () => `978-${below(10)}-${digits(2)}-${digits(6)}-${below(10)}`,
    () => `0-${digits(3)}-${digits(5)}-${below(10)}`,
    () => `v${below(20)}.${below(30)}.${below(2000)}-rc.${below(9)}`,
    () => `${1 + below(255)}.${below(256)}.${below(256)}.${below(256)}:${1024 + below(60000)}`,
    () => `${pick(['react', 'lodash', '@types/node'])}@${below(20)}.${below(20)}.${below(20)}`,
    () => String(1_600_000_000_000 + below(200_000_000)),
    () => `${below(90)}.${digits(6)}, -${below(180)}.${digits(6)}`,
    () => `${digits(3)},${digits(3)},${digits(3)}.${digits(2)} EUR`,
    () => `task-${from(lower, 12)}-${digits(4)}`,
  ];
  return makers.flatMap((make) => times(perKind, make));
};
