import { isObject } from './event.js';

/** `read` = text as any other; `fixed` = read, but what refers to it would miss a change; `skip` = no text. */
export type Treatment = 'read' | 'fixed' | 'skip';

/** Bytes and seals. They hold no spaces: what does is text in their place. */
const SEALED = new Set([
  'data',
  'file_data',
  'b64_json',
  'partial_image_b64',
  'signature',
  'thought_signature',
  'encrypted_content',
  'encrypted_index',
  'encrypted_stdout',
]);
/** An image stands where other tools say what they gave. */
const SEALED_IF_LONG = new Set(['result']);
const LONG = 1_024;

/** What belongs to the upstream alone, and not to whoever is asked about texts. */
const SECRET = new Set(['authorization', 'authorization_token', 'headers']);

export const isSecretKey = (key: string): boolean => SECRET.has(key);

/** Words of the formats themselves. */
const TOKENS = new Set([
  'type',
  'role',
  'status',
  'ttl',
  'detail',
  'media_type',
  'mime_type',
  'format',
  'model',
  'phase',
  'finish_reason',
  'error_code',
  'object',
  'execution',
  'environment',
]);
const ID = /(^|_)ids?$/;
const TOKEN = /^[\w.:/+=-]{0,128}$/;

const FIXED = new Set(['name', 'server_label', 'namespace']);
const URL_KEY = /(^|_)(url|uri)$/;

/** How a string is read, by the key it stands under. */
export const treatmentOf = (key: string, text: string): Treatment => {
  if (text === '' || SECRET.has(key)) return 'skip';
  if (SEALED.has(key) || (SEALED_IF_LONG.has(key) && text.length > LONG))
    return text.includes(' ') ? 'read' : 'skip';
  if (TOKENS.has(key) || ID.test(key)) return TOKEN.test(text) ? 'skip' : 'fixed';
  if (URL_KEY.test(key)) return text.startsWith('data:') && !text.includes(' ') ? 'skip' : 'fixed';
  return FIXED.has(key) ? 'fixed' : 'read';
};

/** Below these an application or a tool writes what it likes: no key means anything there. */
export const FREE = new Set(['input', 'arguments', 'variables', 'structured_content', 'structuredContent']);

/** Keys of the formats; every other one was chosen by somebody, and says something. */
const KNOWN = new Set(
  (
    'text thinking refusal content input output outputs arguments title context source summary code logs stdout stderr ' +
    'return_code is_error cache_control citations cited_text enabled tool_calls function function_call custom index ' +
    'reasoning_content reasoning reasoning_details image_url input_audio file filename url results result score ' +
    'attributes action actions commands command operation path diff outcome exit_code query queries sources page_age ' +
    'document_title document_index start_char_index end_char_index start_block_index end_block_index ' +
    'start_page_number end_page_number start_index end_index search_result_index annotations logprobs transcript ' +
    'audio caller max_output_length timeout_ms variables tools tool_choice properties required items description enum ' +
    'anyOf oneOf allOf not additionalProperties parameters input_schema json_schema schema strict default examples ' +
    'const minimum maximum minLength maxLength minItems maxItems $ref $defs definitions pattern $schema retrieved_at version ' +
    'message acknowledged_safety_checks pending_safety_checks error url_citation expires_at ' +
    [...SEALED, ...TOKENS, ...FIXED, 'id', 'call_id', 'tool_use_id', 'tool_call_id', 'file_id'].join(' ')
  ).split(' '),
);

export const isKnownKey = (key: string): boolean => KNOWN.has(key);

/** Keeps what stands side by side from being read as one. */
export const BETWEEN = '\n|\n';

/** All that is read but not changed, once each: keys that somebody chose, names, addresses. */
export const fixedTexts = (value: unknown): readonly string[] => {
  const found = new Set<string>();
  const look = (each: unknown, under: string, isFree: boolean): void => {
    if (Array.isArray(each)) for (const one of each) look(one, under, isFree);
    else if (isObject(each))
      for (const [key, member] of Object.entries(each)) {
        if (SECRET.has(key) && !isFree) continue;
        if (key !== '' && (isFree || !KNOWN.has(key))) found.add(key);
        look(member, key, isFree || (FREE.has(key) && typeof member === 'object'));
      }
    else if (typeof each === 'string' && !isFree && treatmentOf(under, each) === 'fixed') found.add(each);
  };
  look(value, '', false);
  return [...found];
};
