import type { BlockKind } from '../../core/events.js';
import type { Json } from '../dialect.js';
import { refusalPart, summaryPart, textPart, type OutputItem } from './snapshot.js';

/** Writes an event with the next sequence number. */
type Numbered = (type: string, data: Json) => string;

/** The events inside one output item, between its `added` and its `done`. */
export interface ItemFrames {
  open(numbered: Numbered): string;
  delta(text: string): string;
  close(numbered: Numbered, text: string): string;
}

interface Shape {
  /** Names the events `<name>.delta` and `<name>.done`. */
  readonly name: string;
  /** The key that carries the whole text in `<name>.done`. */
  readonly key: string;
  readonly part: { readonly name: string; readonly index: string; render(text: string): Json } | null;
  readonly logprobs: boolean;
}

const contentPart = { name: 'response.content_part', index: 'content_index' };

const SHAPES: Readonly<Record<BlockKind, Shape>> = {
  text: {
    name: 'response.output_text',
    key: 'text',
    part: { ...contentPart, render: textPart },
    logprobs: true,
  },
  refusal: {
    name: 'response.refusal',
    key: 'refusal',
    part: { ...contentPart, render: refusalPart },
    logprobs: false,
  },
  reasoning: {
    name: 'response.reasoning_summary_text',
    key: 'text',
    part: { name: 'response.reasoning_summary_part', index: 'summary_index', render: summaryPart },
    logprobs: false,
  },
  tool: { name: 'response.function_call_arguments', key: 'arguments', part: null, logprobs: false },
};

export const itemFrames = (item: OutputItem, outputIndex: number, nextSequence: () => number): ItemFrames => {
  const { name, key, part, logprobs } = SHAPES[item.kind];
  const place = { item_id: item.id, output_index: outputIndex, ...(part && { [part.index]: 0 }) };
  // Everything of a delta but its number and its text is known before the first one.
  const head = `event: ${name}.delta\ndata: {"type":"${name}.delta","sequence_number":`;
  const middle = `,${JSON.stringify(place).slice(1, -1)},"delta":`;
  const tail = logprobs ? ',"logprobs":[]}\n\n' : '}\n\n';

  return {
    open: (numbered) => (part ? numbered(`${part.name}.added`, { ...place, part: part.render('') }) : ''),
    delta: (text) => `${head}${nextSequence()}${middle}${JSON.stringify(text)}${tail}`,
    close: (numbered, text) =>
      numbered(`${name}.done`, {
        ...place,
        ...(item.kind === 'tool' && { name: item.name }),
        [key]: text,
        ...(logprobs && { logprobs: [] }),
      }) + (part ? numbered(`${part.name}.done`, { ...place, part: part.render(text) }) : ''),
  };
};
