/** What a pattern says of a place in a text: nothing here, or not yet to be told. Otherwise it says where the value ends. */
export const NOTHING = -1;
export const UNDECIDED = -2;

export const DIGIT = 1;
export const LETTER = 2; // of ASCII
export const ALPHANUMERIC = 4; // also the letters of Latin with accents
export const LOCAL = 8; // before the @ of an address
export const TOKEN = 16; // in keys and tokens
/** A value may begin here. */
export const TRIGGER = 32;
export const CAPITAL = 64; // or a digit
export const SEPARATOR = 128; // between the groups of a number

const classes = new Uint8Array(0x250);
for (let unit = 0; unit < classes.length; unit++) {
  const character = String.fromCharCode(unit);
  const isDigit = /[0-9]/.test(character);
  const isLetter = /[A-Za-z]/.test(character);
  const isAlphanumeric = isDigit || isLetter || /[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]/.test(character);
  classes[unit] =
    (isDigit ? DIGIT : 0) |
    (isLetter ? LETTER : 0) |
    (isAlphanumeric ? ALPHANUMERIC : 0) |
    (isAlphanumeric || /[._%+'-]/.test(character) ? LOCAL : 0) |
    (isDigit || isLetter || /[_-]/.test(character) ? TOKEN : 0) |
    (/[A-Z0-9]/.test(character) ? CAPITAL : 0) |
    (/[-. \u00a0]/.test(character) ? SEPARATOR : 0) |
    (isAlphanumeric || /[-+(]/.test(character) ? TRIGGER : 0);
}

export const classOf = (unit: number): number => (unit < 0x250 ? classes[unit]! : classOfRare(unit));

/** A hyphen and a space that do not break. */
const classOfRare = (unit: number): number => (unit === 0x2011 || unit === 0x202f ? SEPARATOR : 0);

/** What a scanner sees of a text: a little of what it has passed, and what has come since. */
export class TextWindow {
  readonly units: Uint16Array;
  size = 0;
  /** Whether the text ends with the window. */
  isLast = false;
  /** Up to here, from where the search for an address last began, all may stand before an @. */
  localTo = 0;
  /** The same for a token: how far one run of its characters is known to reach. */
  tokenTo = 0;

  constructor(room: number) {
    this.units = new Uint16Array(room);
  }

  hasRoom(length: number): boolean {
    return this.size + length <= this.units.length;
  }

  append(text: string, from: number, to: number): void {
    const { units } = this;
    let { size } = this;
    for (let n = from; n < to; n++) units[size++] = text.charCodeAt(n);
    this.size = size;
  }

  /** Forgets what stands before a place. */
  dropBefore(place: number): void {
    this.units.copyWithin(0, place, this.size);
    this.size -= place;
    this.localTo = Math.max(0, this.localTo - place);
    this.tokenTo = Math.max(0, this.tokenTo - place);
  }

  /** The class of a place: 0 before the text and after it. */
  at(place: number): number {
    return place >= 0 && place < this.size ? classOf(this.units[place]!) : 0;
  }

  character(place: number): string {
    return place >= 0 && place < this.size ? String.fromCharCode(this.units[place]!) : '';
  }

  slice(from: number, to: number): string {
    return String.fromCharCode(...this.units.subarray(from, to));
  }

  /** The digits of a stretch, without what stands between them. */
  digits(from: number, to: number): string {
    let digits = '';
    for (let n = from; n < to; n++) if ((this.at(n) & DIGIT) !== 0) digits += this.character(n);
    return digits;
  }

  /** Whether what stands at a place, or nothing, is still to come. */
  lacks(place: number): boolean {
    return place >= this.size && !this.isLast;
  }
}
