/** Enough letters to tell. */
const LETTERS_MIN = 200;
const READ_BOUND = 4_000;
/** English has about one such word in five, code one in twenty, other languages next to none. */
const SHARE_MIN = 0.02;

const telling = new Set(
  (
    'the and you that this with are have what how your it be not from they will would my can which there their if when ' +
    'else return function class import const let def true false null public void int string'
  ).split(' '),
);

/** Whether a text is in the one language the embedded model knows. Short texts in its script get the benefit of the doubt. */
export const readsAsEnglish = (text: string): boolean => {
  let latin = 0;
  let foreign = 0;
  let words = 0;
  let known = 0;
  let wordFrom = -1;
  const end = Math.min(text.length, READ_BOUND);
  for (let index = 0; index <= end; index++) {
    const unit = index < end ? text.charCodeAt(index) : 0;
    const lower = unit | 32;
    if (lower >= 97 && lower <= 122) {
      latin++;
      if (wordFrom < 0) wordFrom = index;
      continue;
    }
    if (wordFrom >= 0) {
      words++;
      if (index - wordFrom < 9 && telling.has(text.slice(wordFrom, index).toLowerCase())) known++;
      wordFrom = -1;
    }
    if (unit >= 0x00c0 && unit <= 0x024f) latin++;
    else if (isForeignLetter(unit)) foreign++;
  }
  if (foreign > latin) return false;
  return latin < LETTERS_MIN || known >= SHARE_MIN * words;
};

/** Letters of the scripts from Greek to Korean; signs, dashes, arrows and emoji lie between and beyond. */
const isForeignLetter = (unit: number): boolean =>
  (unit >= 0x0370 && unit <= 0x1fff && !(unit >= 0x1e00 && unit <= 0x1eff)) ||
  (unit >= 0x3040 && unit <= 0xd7af) ||
  (unit >= 0xf900 && unit <= 0xfdff);
