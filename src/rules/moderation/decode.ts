const LEAST_ESCAPES = 4;
/** Characters of decoded text that are read of one text. */
export const DECODED_BOUND = 16_384;
/** A line of base64 that was cut to length: what follows belongs to it. */
const FULL_LINE = 60;

/** Text behind a run of base64, hexadecimal or percent signs; null where there is none. Decoded once, never again. */
export const decodeRun = (run: string): string | null => {
  const decoded = run.includes('%') ? decodePercent(run) : decodeBytes(run);
  return decoded !== null && isText(decoded) ? decoded : null;
};

/** Whether the words of the next run may belong to the last word of this one. */
export const isFullLine = (run: string): boolean =>
  run.length >= FULL_LINE && run.length % 4 === 0 && !run.endsWith('=');

const decodePercent = (run: string): string | null => {
  let escapes = 0;
  const bytes = Buffer.from(run, 'latin1');
  let length = 0;
  for (let index = 0; index < run.length; index++) {
    const value = run[index] === '%' ? Number.parseInt(run.slice(index + 1, index + 3), 16) : Number.NaN;
    if (Number.isNaN(value)) bytes[length++] = run.charCodeAt(index) & 255;
    else {
      bytes[length++] = value;
      escapes++;
      index += 2;
    }
  }
  return escapes < LEAST_ESCAPES ? null : bytes.toString('utf8', 0, length);
};

const decodeBytes = (run: string): string | null => {
  if (run.length % 2 === 0 && /^[0-9a-f]+$/i.test(run)) return Buffer.from(run, 'hex').toString('utf8');
  const body = run.replace(/=+$/, '');
  if (body.length % 4 === 1 || /[=%]/.test(body)) return null;
  return Buffer.from(body, 'base64').toString('utf8');
};

/** Mostly letters and spaces, and nothing that no one can see; a character cut in two at either end is forgiven. */
const isText = (decoded: string): boolean => {
  let readable = 0;
  let broken = 0;
  for (let index = 0; index < decoded.length; index++) {
    const unit = decoded.charCodeAt(index);
    if ((unit < 32 && (unit < 9 || unit > 13)) || unit === 127) return false;
    if (unit === 0xfffd && ++broken > 2) return false;
    if ((unit | 32) >= 97 && (unit | 32) <= 122) readable++;
    else if (unit === 32 || (unit > 191 && unit !== 0xfffd)) readable++;
  }
  return readable * 10 >= decoded.length * 7;
};
