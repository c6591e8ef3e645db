/** What differs between upstreams of one format, and models of one upstream. */
export interface UpstreamFlags {
  /** How a chat server calls the token bound: OpenAI the long name, vLLM, Ollama and llama.cpp the short one. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** For models that refuse temperature and its kin. */
  readonly dropSampling: boolean;
  /** For models that refuse to be asked for reasoning. */
  readonly dropReasoning: boolean;
  /** Leaves out tools that the upstream cannot run, where the default is to refuse them. */
  readonly dropServerTools: boolean;
  /** Whether a chat server reads file parts. */
  readonly takesDocuments: boolean;
  /** Whether a chat server wants the reasoning of turns before as `reasoning_content`. */
  readonly takesReasoningText: boolean;
  /** Whether a chat server knows `top_k`. */
  readonly takesTopK: boolean;
  /** For models that know system text only at the start: later pieces are moved there. */
  readonly liftSystemTurns: boolean;
  /** How a model of the Messages format is asked to reason: newer ones by effort, older ones by a token budget. */
  readonly thinking: 'adaptive' | 'budget';
}

export const defaultFlags: UpstreamFlags = {
  maxTokensField: 'max_completion_tokens',
  dropSampling: false,
  dropReasoning: false,
  dropServerTools: false,
  takesDocuments: true,
  takesReasoningText: false,
  takesTopK: false,
  liftSystemTurns: false,
  thinking: 'adaptive',
};
