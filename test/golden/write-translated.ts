// Writes the expected translations anew after a wanted change; read the difference before keeping it.
import { writeFileSync } from 'node:fs';
import { goldenBytes } from './replay.js';
import {
  pairs,
  replayGoldenTranslated,
  translatable,
  translatedFile,
  writeTranslated,
} from './translated.js';

for (const [from, to] of pairs) {
  const streams = new Map<string, string>();
  for (const golden of translatable(from)) {
    const { output } = await replayGoldenTranslated(golden, to, [goldenBytes(golden, 'in')]);
    streams.set(golden.name, output.toString());
  }
  writeFileSync(translatedFile(from, to), writeTranslated(streams));
}
