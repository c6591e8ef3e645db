export interface Size {
  readonly width: number;
  readonly height: number;
}

/** As far as a picture's size is looked for: behind the largest blocks that cameras put before it. */
const HEAD_BYTES = 192 * 1024;

const pngSize = (head: Buffer): Size | null =>
  head.length >= 24 && head.readUInt32BE(0) === 0x89504e47
    ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
    : null;

const gifSize = (head: Buffer): Size | null =>
  head.length >= 10 && head.toString('latin1', 0, 4) === 'GIF8'
    ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
    : null;

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

const jpegSize = (head: Buffer): Size | null => {
  if (head.length < 4 || head.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 <= head.length;) {
    if (head[at] !== 0xff) return null;
    const marker = head[at + 1]!;
    if (marker === 0xff) {
      at++; // a fill byte
      continue;
    }
    if (isFrameHeader(marker)) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    at += 2 + head.readUInt16BE(at + 2);
  }
  return null;
};

const webpSize = (head: Buffer): Size | null => {
  if (head.length < 30 || head.toString('latin1', 0, 4) !== 'RIFF') return null;
  if (head.toString('latin1', 8, 12) !== 'WEBP') return null;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
};

/** The size of a picture from its first bytes; null where they tell none. */
export const imageSize = (base64: string): Size | null => {
  const head = Buffer.from(base64.slice(0, (HEAD_BYTES / 3) * 4), 'base64');
  const size = pngSize(head) ?? gifSize(head) ?? jpegSize(head) ?? webpSize(head);
  return size && size.width > 0 && size.height > 0 ? size : null;
};
