import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);
const SYSTEM_BYTE = 9;
const UNKNOWN_SYSTEM = 255;

/** The same bytes for the same content, wherever it runs. In the thread pool, so that nothing waits for it. */
export const gzipBytes = async (content: Buffer | string): Promise<Buffer> => {
  const bytes = await compress(content, { level: 6 });
  bytes[SYSTEM_BYTE] = UNKNOWN_SYSTEM;
  return bytes;
};
