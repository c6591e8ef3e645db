import { cutInto } from './replay.js';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export const withLineEnds = (bytes: Buffer, lineEnd: string): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll('\n', lineEnd), 'latin1');

/** The same stream as the wire may bring it. */
export const variants = (input: Buffer): readonly [name: string, chunks: Buffer[]][] => [
  ['whole', [input]],
  ['byte by byte', cutInto(input, [1])],
  ['with CRLF', [withLineEnds(input, '\r\n')]],
  ['with CRLF, byte by byte', cutInto(withLineEnds(input, '\r\n'), [1])],
  ['with CR', cutInto(withLineEnds(input, '\r'), [50])],
  ['with a byte order mark', [Buffer.concat([BOM, input])]],
  ['with a byte order mark, byte by byte', cutInto(Buffer.concat([BOM, input]), [1])],
];
