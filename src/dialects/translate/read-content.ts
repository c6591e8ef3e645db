import type { Reading, TypeReader } from './fields.js';
import type { Part, TextPart } from './neutral-request.js';

/** Empty text says nothing, and some upstreams refuse it. */
export const readText: TypeReader<TextPart> = (fields) => {
  const text = fields.text('text');
  return text === '' ? [] : [{ kind: 'text', at: fields.path('text'), text }];
};

/** Content as every format allows it: a string, parts by their type, or nothing. */
export const readContent = <Value extends Part>(
  content: unknown,
  at: string,
  reading: Reading,
  readers: Readonly<Record<string, TypeReader<Value>>>,
  isServerTool?: (type: string) => boolean,
): (Value | TextPart)[] => {
  if (content === undefined || content === '') return [];
  return typeof content === 'string'
    ? [{ kind: 'text', at, text: content }]
    : reading.typed(content, at, readers, isServerTool);
};
