import type { DialectName } from '../dialect.js';
import type { Leftover } from './neutral-request.js';

/** `form` = spelling only, nothing is lost without it. */
export type Fate = Leftover['kind'] | 'form';

interface Fates {
  /** Of fields at the top of the body. */
  readonly body: Readonly<Record<string, Fate>>;
  /** Of fields anywhere below. */
  readonly below: Readonly<Record<string, Fate>>;
}

/**
 * What becomes of fields that have no neutral form.
 * Meaning: the answer would not be what was asked for without it, so the request is refused.
 * Hint: speed, price, caching, bookkeeping. Fields not listed are hints too: clients send new ones all the time.
 */
export const fates: Readonly<Record<DialectName, Fates>> = {
  messages: {
    body: {
      model: 'form',
      container: 'meaning',
      context_management: 'meaning',
      inference_geo: 'meaning',
      mcp_servers: 'meaning',
      cache_control: 'hint',
      diagnostics: 'hint',
      speed: 'hint',
      user_profile_id: 'hint',
      workspace_id: 'hint',
    },
    below: {
      type: 'form',
      cache_control: 'hint',
      citations: 'hint',
      caller: 'hint',
      transformations: 'hint',
      allowed_callers: 'hint',
      defer_loading: 'hint',
      eager_input_streaming: 'hint',
      input_examples: 'hint',
      task_budget: 'hint',
      toolset_name: 'meaning',
    },
  },
  chat: {
    body: {
      model: 'form',
      audio: 'meaning',
      functions: 'meaning',
      function_call: 'meaning',
      logprobs: 'meaning',
      modalities: 'meaning',
      moderation: 'meaning',
      n: 'meaning',
      top_logprobs: 'meaning',
      web_search_options: 'server_tool',
      prediction: 'hint',
      prompt_cache_options: 'hint',
    },
    below: {
      type: 'form',
      audio: 'meaning',
      function_call: 'meaning',
      annotations: 'hint',
      include_obfuscation: 'hint',
      name: 'hint',
      prompt_cache_breakpoint: 'hint',
    },
  },
  responses: {
    body: {
      model: 'form',
      background: 'meaning',
      context_management: 'meaning',
      conversation: 'meaning',
      moderation: 'meaning',
      previous_response_id: 'meaning',
      prompt: 'meaning',
      top_logprobs: 'meaning',
      client_metadata: 'hint',
      include: 'hint',
      max_tool_calls: 'hint',
      prompt_cache_options: 'hint',
      stream_options: 'hint',
      truncation: 'hint',
    },
    below: {
      type: 'form',
      id: 'form',
      status: 'form',
      namespace: 'meaning',
      annotations: 'hint',
      allowed_callers: 'hint',
      caller: 'hint',
      context: 'hint',
      defer_loading: 'hint',
      logprobs: 'hint',
      mode: 'hint',
      output_schema: 'hint',
      phase: 'hint',
      prompt_cache_breakpoint: 'hint',
    },
  },
};
