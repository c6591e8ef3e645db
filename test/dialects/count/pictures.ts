/** The first bytes of pictures of a size, in each kind; nothing behind them is ever read. */
export const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33);
  bytes.write('\x89PNG\r\n\x1a\n', 0, 'latin1');
  bytes.writeUInt32BE(13, 8);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

export const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(13);
  bytes.write('GIF89a', 0, 'latin1');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};

/** With a camera's block before the frame header. */
export const jpeg = (width: number, height: number, cameraBytes = 60_000): Buffer => {
  const camera = Buffer.alloc(2 + cameraBytes);
  camera.writeUInt16BE(0xffe1, 0);
  camera.writeUInt16BE(cameraBytes, 2);
  const frame = Buffer.alloc(20);
  frame.writeUInt16BE(0xffc2, 0);
  frame.writeUInt16BE(17, 2);
  frame[4] = 8;
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), camera, Buffer.from([0xff]), frame]);
};

const webp = (kind: string, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(40);
  bytes.write('RIFF', 0, 'latin1');
  bytes.write('WEBP', 8, 'latin1');
  bytes.write(kind, 12, 'latin1');
  write(bytes);
  return bytes;
};

export const webpExtended = (width: number, height: number): Buffer =>
  webp('VP8X', (bytes) => {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  });

export const webpLossless = (width: number, height: number): Buffer =>
  webp('VP8L', (bytes) => {
    bytes[20] = 0x2f;
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  });

export const webpLossy = (width: number, height: number): Buffer =>
  webp('VP8 ', (bytes) => {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  });
