import type { DialectName } from '../../../src/dialects/dialect.js';
import { checkChat } from './check-chat.js';
import { checkMessages } from './check-messages.js';
import { checkResponses } from './check-responses.js';
import { readFrames, type Heard } from './frames.js';

/** Checks a stream by the rules of its format, usage asked for. Throws the rule that is broken. */
export const checkStream = (format: DialectName, text: string): Heard => {
  const frames = readFrames(text);
  switch (format) {
    case 'messages':
      return checkMessages(frames);
    case 'chat': {
      const failed = frames.some(({ data }) => data.error !== undefined);
      return checkChat(frames, !failed);
    }
    case 'responses':
      return checkResponses(frames);
  }
};
