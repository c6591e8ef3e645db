import type { Readable } from 'node:stream';
import type { Stage } from '../../core/exchange.js';

/** Runs a source through a stage to its end and gives all that came out. */
export const runStage = async (source: Readable, stage: Stage, boundBytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer | null): void => {
    if (piece === null) return;
    bytes += piece.length;
    if (bytes > boundBytes) throw new Error('The answer is larger than it may be.');
    pieces.push(piece);
  };
  try {
    for await (const chunk of source) {
      keep(await stage.feed(chunk as Buffer));
      if (stage.done) break;
    }
    if (!stage.done) keep(await stage.end());
  } catch (error) {
    if (stage.done) throw error;
    keep(await stage.fail(error));
  } finally {
    source.destroy();
  }
  return Buffer.concat(pieces);
};
