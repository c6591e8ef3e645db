import type { Json } from '../dialect.js';
import { isObject, objectIn } from '../event.js';
import { documentTokens, imageTokens } from './media-tokens.js';

/** What a model will read: texts to be counted, and tokens that stand beside them. */
export interface InputLayout {
  readonly texts: readonly string[];
  readonly extraTokens: number;
}

/** Measured on the vendor's own examples: roles and separators, the opening of the answer, the frame around tools. */
const TOKENS_PER_MESSAGE = 4;
const PRIMING_TOKENS = 3;
const TOOLS_TOKENS = 350;

/** Sealed reasoning: base64 of what it hides, four bytes a token. */
const SEALED_CHARACTERS_PER_TOKEN = 16 / 3;

class Layout implements InputLayout {
  readonly texts: string[] = [];
  extraTokens = PRIMING_TOKENS;

  addText(text: unknown): void {
    if (typeof text === 'string' && text !== '') this.texts.push(text);
  }

  addJson(value: unknown): void {
    if (value !== undefined && value !== null) this.texts.push(JSON.stringify(value));
  }

  addContent(content: unknown): void {
    if (!Array.isArray(content)) {
      this.addText(content);
      return;
    }
    for (const block of content.filter(isObject)) {
      const type = typeof block.type === 'string' ? block.type : '';
      // A kind not known here is read by the model all the same.
      if (Object.hasOwn(blocks, type)) blocks[type]!(block, this);
      else this.addJson(block);
    }
  }
}

const addDocument = (block: Json, layout: Layout): void => {
  layout.addText(block.title);
  layout.addText(block.context);
  const source = objectIn(block, 'source');
  if (source.type === 'text') layout.addText(source.data);
  else if (source.type === 'content') layout.addContent(source.content);
  else layout.extraTokens += documentTokens(source);
};

const blocks: Readonly<Record<string, (block: Json, layout: Layout) => void>> = {
  text: (block, layout) => layout.addText(block.text),
  thinking: (block, layout) => layout.addText(block.thinking),
  redacted_thinking: ({ data }, layout) => {
    if (typeof data === 'string') layout.extraTokens += Math.ceil(data.length / SEALED_CHARACTERS_PER_TOKEN);
  },
  image: (block, layout) => {
    layout.extraTokens += imageTokens(block);
  },
  document: addDocument,
  tool_use: (block, layout) => {
    layout.addText(block.name);
    layout.addJson(block.input);
  },
  tool_result: (block, layout) => layout.addContent(block.content),
  search_result: (block, layout) => {
    layout.addText(block.title);
    layout.addText(block.source);
    layout.addContent(block.content);
  },
};

const addTools = (tools: unknown, layout: Layout): void => {
  if (!Array.isArray(tools) || tools.length === 0) return;
  layout.extraTokens += TOOLS_TOKENS;
  for (const tool of tools.filter(isObject)) {
    if (!('input_schema' in tool)) {
      layout.addJson(tool);
      continue;
    }
    layout.addText(tool.name);
    layout.addText(tool.description);
    layout.addJson(tool.input_schema);
  }
};

/** Everything of a Messages body that counts as input, replayed reasoning included (D41). */
export const layOutInput = (body: Json): InputLayout => {
  const layout = new Layout();
  layout.addContent(body.system);
  const messages: unknown[] = Array.isArray(body.messages) ? body.messages : [];
  for (const message of messages.filter(isObject)) {
    layout.extraTokens += TOKENS_PER_MESSAGE;
    layout.addContent(message.content);
  }
  addTools(body.tools, layout);
  layout.addJson(objectIn(objectIn(body, 'output_config'), 'format').schema);
  return layout;
};
