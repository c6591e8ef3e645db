/** Stand in terms and texts where a word begins and ends; as characters of a text they would be invisible. */
export const WORD_START = 1;
export const WORD_END = 2;

/** Traits of a code point, above the 16 bits of the symbol it folds to. */
export const SIMPLE = 1 << 16; // stands for that one symbol, unless something joins it
export const WORD = 1 << 17;
export const SPACE = 1 << 18;
export const INVISIBLE = 1 << 19;
/** May melt into the characters before it: marks, and the later letters of a Hangul syllable. */
export const JOINING = 1 << 20;
/** Belongs to the word before it, or to none: marks change places among themselves, and must not move boundaries. */
export const MARK = 1 << 24;
/** Something may join it and change its symbol. */
export const OPEN = 1 << 21;
/** Ends whatever stands before it. */
export const CLOSING = 1 << 22;
/** Half of a pair: says nothing alone. */
export const SURROGATE = 1 << 23;

const invisible = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]$/u;
const space = /^[\t-\r\x85\p{Z}]$/u;
/** How the NFKD of a joining character begins: marks, and the vowels and final consonants of Hangul. */
const joining = /^[\p{M}\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** Scripts that write no spaces have no words to begin or end: terms in them match anywhere. */
const unspaced =
  /^[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u3031-\u3035\u30fc\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}\p{sc=Yi}]$/u;
const mark = /^\p{M}/u;
const word = /^[\p{L}\p{N}]$/u;
/** The characters of ASCII that a mark can change. */
const openInAscii = /^[A-Za-z<=>]$/;

/** NFKC and full case folding: the way through capitals also unites ß with ss, ı with i and the two small sigmas. */
const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll('\u0345', '') // would become a letter of its own
    .toLowerCase() // ẞ has no other capital than itself
    .toUpperCase()
    .toLowerCase()
    .replaceAll('i\u0307', 'i')
    .replaceAll('\u03c2', '\u03c3')
    .normalize('NFKC');

const classify = (character: string): number => {
  if (space.test(character)) return SPACE;
  if (invisible.test(character)) return INVISIBLE;
  return word.test(character) && !unspaced.test(character) ? WORD : 0;
};

const study = (character: string): number => {
  const kind = classify(character);
  if (kind === INVISIBLE) return INVISIBLE;
  const decomposed = character.normalize('NFKD');
  if (joining.test(decomposed)) return JOINING | (mark.test(decomposed) ? MARK : kind);
  const folded = kind === SPACE ? ' ' : fold(character);
  const closes = CLOSING | (character < '\x80' && !openInAscii.test(character) ? 0 : OPEN);
  return folded.length === 1 ? closes | SIMPLE | classify(folded) | folded.charCodeAt(0) : closes | kind;
};

const units = new Uint32Array(0x10000);

/** Of a code unit; studied when it is first met. */
export const traitOf = (unit: number): number => units[unit]! || learn(unit);

const learn = (unit: number): number => {
  const surrogate = unit >= 0xd800 && unit <= 0xdfff;
  const trait = surrogate ? SURROGATE : study(String.fromCharCode(unit));
  units[unit] = trait;
  return trait;
};

const KEPT = 4_096;
const points = new Map<number, number>();

/** Of a code point; beyond the first plane only those met lately are remembered. */
export const traitOfPoint = (point: number): number => {
  if (point < 0x10000) return traitOf(point);
  const known = points.get(point);
  if (known !== undefined) return known;
  if (points.size >= KEPT) points.clear();
  const trait = study(String.fromCodePoint(point));
  points.set(point, trait);
  return trait;
};

/** What a lone surrogate becomes on its way through UTF-8. */
export const LONE_SURROGATE = CLOSING | SIMPLE | 0xfffd;

const clusters = new Map<string, string>();

/** The symbols of a character with everything that joined it. */
export const foldCluster = (cluster: string): string => {
  const known = clusters.get(cluster);
  if (known !== undefined) return known;
  if (clusters.size >= KEPT) clusters.clear();
  const folded = fold(cluster);
  clusters.set(cluster, folded);
  return folded;
};

/** What marks to come could still change in a cluster. */
export const basesOf = (cluster: string): string[] => Array.from(foldCluster(cluster).normalize('NFD'));

export const hasJoining = (text: string): boolean =>
  Array.from(text).some((character) => (traitOfPoint(character.codePointAt(0)!) & JOINING) !== 0);
