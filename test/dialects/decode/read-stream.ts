import type { BlockKind, InferenceEvent } from '../../../src/core/events.js';
import { ChatDecoder } from '../../../src/dialects/chat/decode.js';
import type { Decoder } from '../../../src/dialects/decoding.js';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { MessagesDecoder } from '../../../src/dialects/messages/decode.js';
import { ResponsesDecoder } from '../../../src/dialects/responses/decode.js';
import type { TellOptions } from '../../../src/dialects/teller.js';
import { FrameScanner } from '../../../src/io/sse/scan.js';

export const formats: readonly DialectName[] = ['messages', 'chat', 'responses'];

const decoders = { messages: MessagesDecoder, chat: ChatDecoder, responses: ResponsesDecoder };

export const newDecoder = (
  format: DialectName,
  hear: (event: InferenceEvent) => void,
  options?: TellOptions,
): Decoder => new decoders[format](hear, options);

export interface Read {
  readonly events: readonly InferenceEvent[];
  /** The stream came to its end, by itself or because nothing but the end was missing. */
  readonly complete: boolean;
}

/** Reads a stream as the gateway would, less its ending of streams that were cut. */
export const readStream = (format: DialectName, chunks: Iterable<Buffer>, options?: TellOptions): Read => {
  const events: InferenceEvent[] = [];
  const decoder = newDecoder(format, (event) => events.push(event), options);
  const scanner = new FrameScanner();
  for (const chunk of chunks) {
    scanner.push(chunk);
    for (let frame = scanner.next(); frame !== null; frame = scanner.next()) {
      const standing = decoder.take(frame);
      if (standing === 'failed') return { events, complete: false };
      if (standing === 'open') continue;
      decoder.finish();
      return { events, complete: true };
    }
  }
  if (decoder.closable) decoder.finish();
  return { events, complete: decoder.closable };
};

/** An answer in one line: each block with its text, then how it ended. Throws where the order of events is broken. */
export const outline = (events: readonly InferenceEvent[]): string => {
  const words: string[] = [];
  let open: { kind: BlockKind; text: string; name: string } | null = null;
  let next = 0;
  const must = (holds: boolean, rule: string): void => {
    if (!holds) throw new Error(`${rule}: ${JSON.stringify(events)}`);
  };
  for (const [at, event] of events.entries()) {
    must((at === 0) === (event.type === 'start') || event.type === 'error', 'start comes once, first');
    must(!words.some((word) => word.startsWith('=')), 'nothing follows the end');
    switch (event.type) {
      case 'start':
      case 'usage':
        break;
      case 'block_open':
        must(open === null && event.index === next, 'one block at a time, without gaps');
        open = {
          kind: event.kind,
          text: '',
          name: event.toolName === undefined ? '' : ` ${event.toolName}#${event.toolId ?? ''}`,
        };
        if (event.phase) open.name += ` (${event.phase})`;
        break;
      case 'delta':
        must(open !== null && event.index === next, 'a delta stands in its block');
        open!.text += event.text;
        break;
      case 'block_close':
        must(open !== null && event.index === next, 'a close ends its block');
        words.push(
          `${open!.kind}${open!.name} ${open!.text}${event.signature === undefined ? '' : ` [${event.signature}]`}`,
        );
        open = null;
        next++;
        break;
      case 'finish':
        must(open === null, 'blocks end before the finish');
        words.push(
          `= ${event.reason}${event.stopSequence === null ? '' : ` ${event.stopSequence}`}${event.explanation === undefined ? '' : ` (${event.explanation})`}`,
        );
        break;
      case 'error':
        words.push(`= ${event.code}: ${event.message}`);
    }
  }
  return words.join(' | ');
};
