const ZERO = 0x30;

/** The check digit of payment cards: every second digit from the right counts twice. */
const passesLuhn = (digits: string): boolean => {
  let sum = 0;
  let counts = 1;
  for (let n = digits.length - 1; n >= 0; n--) {
    const value = counts * (digits.charCodeAt(n) - ZERO);
    sum += value > 9 ? value - 9 : value;
    counts = 3 - counts;
  }
  return sum % 10 === 0;
};

/** First and last number that an issuer's cards begin with, and the lengths they have. */
const issuers: readonly (readonly [first: number, last: number, lengths: readonly number[]])[] = [
  [4, 4, [13, 16, 19]], // Visa
  [51, 55, [16]], // Mastercard
  [2221, 2720, [16]],
  [34, 34, [15]], // American Express
  [37, 37, [15]],
  [6011, 6011, [16, 17, 18, 19]], // Discover
  [644, 649, [16, 17, 18, 19]],
  [65, 65, [16, 17, 18, 19]],
  [3528, 3589, [16, 17, 18, 19]], // JCB
  [300, 305, [14, 16, 19]], // Diners Club
  [3095, 3095, [14, 16, 19]],
  [36, 36, [14, 16, 19]],
  [38, 39, [14, 16, 19]],
  [62, 62, [16, 17, 18, 19]], // UnionPay
  [5018, 5018, [13, 14, 15, 16, 17, 18, 19]], // Maestro
  [5020, 5020, [13, 14, 15, 16, 17, 18, 19]],
  [5038, 5038, [13, 14, 15, 16, 17, 18, 19]],
  [5893, 5893, [13, 14, 15, 16, 17, 18, 19]],
  [6304, 6304, [13, 14, 15, 16, 17, 18, 19]],
  [6759, 6763, [13, 14, 15, 16, 17, 18, 19]],
  [2200, 2204, [16, 17, 18, 19]], // Mir
];

const wasIssued = (digits: string): boolean =>
  issuers.some(([first, last, lengths]) => {
    const head = Number(digits.slice(0, String(first).length));
    return head >= first && head <= last && lengths.includes(digits.length);
  });

export const isCardNumber = (digits: string): boolean =>
  passesLuhn(digits) && wasIssued(digits) && !/^(\d)\1+$/.test(digits);

/** How many characters an IBAN has, by country. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** 0 where no country has these letters. */
export const ibanLengthOf = (country: string): number => ibanLengths.get(country) ?? 0;

/** The remainder by 97 is 1 when the first four characters stand last and letters count from 10. */
export const isIban = (iban: string): boolean => {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
};
