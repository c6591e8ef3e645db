import type { Json } from '../../../src/dialects/dialect.js';
import { hearNothing, type Heard } from './frames.js';

/** What the whole body of a Messages answer says. */
export const hearMessagesBody = (body: Json): Heard => {
  const heard = hearNothing();
  for (const block of body.content as Json[]) {
    if (block.type === 'text') heard.text += String(block.text);
    if (block.type === 'thinking') {
      heard.reasoning += String(block.thinking);
      heard.signatures.push(String(block.signature));
    }
    if (block.type === 'tool_use')
      heard.calls.push({
        id: String(block.id),
        name: String(block.name),
        input: JSON.stringify(block.input),
      });
  }
  heard.finish = body.stop_reason as string;
  heard.usage = body.usage as Json;
  return heard;
};

/** What the whole body of a Chat Completions answer says. */
export const hearChatBody = (body: Json): Heard => {
  const [choice] = body.choices as Json[];
  const message = choice!.message as Json;
  const calls = (message.tool_calls ?? []) as Json[];
  return {
    ...hearNothing(),
    text: (message.content as string | null) ?? '',
    refusal: (message.refusal as string | null) ?? '',
    reasoning: (message.reasoning_content as string | undefined) ?? '',
    calls: calls.map((call) => {
      const { name, arguments: input } = call.function as Json;
      return { id: String(call.id), name: String(name), input: String(input) };
    }),
    finish: choice!.finish_reason as string,
    usage: body.usage as Json,
  };
};

/** What the whole body of a Responses answer says. */
export const hearResponsesBody = (body: Json): Heard => {
  const heard = hearNothing();
  for (const item of body.output as Json[]) {
    if (item.type === 'function_call')
      heard.calls.push({ id: String(item.call_id), name: String(item.name), input: String(item.arguments) });
    if (typeof item.encrypted_content === 'string') heard.signatures.push(item.encrypted_content);
    for (const part of (item.content ?? item.summary ?? []) as Json[]) {
      if (part.type === 'output_text') heard.text += String(part.text);
      if (part.type === 'refusal') heard.refusal += String(part.refusal);
      if (part.type === 'summary_text') heard.reasoning += String(part.text);
    }
  }
  const reason = (body.incomplete_details as Json | null)?.reason;
  heard.finish = typeof reason === 'string' ? reason : String(body.status);
  heard.usage = body.usage as Json;
  return heard;
};
