import type { DialectName, Json } from '../dialect.js';

/** A value and the dotted path where the client wrote it, so that a fault can be named in the client's words. */
export interface Field<Value> {
  readonly at: string;
  readonly value: Value;
}

export type MaybeField<Value> = Field<Value> | null;

export type Media =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  /** An id that only the provider who gave it knows. */
  | { readonly kind: 'file'; readonly id: string };

export interface TextPart {
  readonly kind: 'text';
  readonly at: string;
  readonly text: string;
}

/** What an assistant said in place of an answer. */
export interface RefusalPart {
  readonly kind: 'refusal';
  readonly at: string;
  readonly text: string;
}

export interface ImagePart {
  readonly kind: 'image';
  readonly at: string;
  readonly source: Media;
  readonly detail: MaybeField<string>;
}

export interface DocumentPart {
  readonly kind: 'document';
  readonly at: string;
  readonly source: Media | { readonly kind: 'text'; readonly text: string };
  readonly title: string | null;
  /** What the model is told about the document beside its content. */
  readonly context: string | null;
}

export interface ToolCallPart {
  readonly kind: 'tool_call';
  readonly at: string;
  readonly id: string;
  readonly name: string;
  /** JSON text, as a model wrote it. */
  readonly input: Field<string>;
}

export type ResultContent = TextPart | ImagePart | DocumentPart;

export interface ToolResultPart {
  readonly kind: 'tool_result';
  readonly at: string;
  readonly id: string;
  readonly content: readonly ResultContent[];
  readonly isError: boolean;
}

/** Proof of reasoning. It is worth something only where it was made, byte for byte. */
export interface Signature {
  readonly issuer: DialectName;
  readonly value: string;
}

export interface ReasoningPart {
  readonly kind: 'reasoning';
  readonly at: string;
  readonly text: string;
  readonly signature: Signature | null;
}

export type Part =
  TextPart | RefusalPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ReasoningPart;

/** Results of tools stand first in the user turn after the calls. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly at: string;
  readonly parts: readonly Part[];
}

export interface FunctionTool {
  readonly at: string;
  readonly name: string;
  readonly description: string | null;
  readonly schema: Json | null;
  readonly strict: boolean | null;
}

export interface ToolChoice {
  readonly at: string;
  readonly mode: 'auto' | 'any' | 'none' | 'tool';
  /** The tool of mode `tool`. */
  readonly name: string | null;
  /** The only tools that may be called; null = all. */
  readonly allowed: readonly string[] | null;
}

export interface Sampling {
  readonly temperature: MaybeField<number>;
  readonly topP: MaybeField<number>;
  readonly topK: MaybeField<number>;
  readonly seed: MaybeField<number>;
  readonly frequencyPenalty: MaybeField<number>;
  readonly presencePenalty: MaybeField<number>;
  readonly logitBias: MaybeField<Json>;
}

export interface Reasoning {
  /** Whether to reason at all; null = as the model does by itself. */
  readonly wanted: MaybeField<boolean>;
  readonly effort: MaybeField<string>;
  readonly budgetTokens: MaybeField<number>;
  /** How much of it is shown: `none`, or a kind of summary. */
  readonly summary: MaybeField<string>;
}

export type OutputFormat =
  | { readonly kind: 'json_object'; readonly at: string }
  | {
      readonly kind: 'json_schema';
      readonly at: string;
      readonly name: MaybeField<string>;
      readonly description: string | null;
      readonly schema: Json;
      readonly strict: boolean | null;
    };

/** What the neutral request has no place for: a hint is left out and named, the others are refused. */
export interface Leftover {
  readonly at: string;
  readonly kind: 'hint' | 'meaning' | 'server_tool';
}

/** A request in no vendor's words. */
export interface NeutralRequest {
  readonly stream: boolean;
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolChoice | null;
  /** Whether several tools may be called at once. */
  readonly parallelTools: MaybeField<boolean>;
  readonly maxTokens: MaybeField<number>;
  readonly sampling: Sampling;
  readonly stop: MaybeField<readonly string[]>;
  readonly reasoning: Reasoning;
  readonly output: OutputFormat | null;
  readonly verbosity: MaybeField<string>;
  readonly userId: MaybeField<string>;
  /** Labels of the client's own. */
  readonly metadata: MaybeField<Json>;
  readonly cacheKey: MaybeField<string>;
  readonly cacheRetention: MaybeField<string>;
  readonly serviceTier: MaybeField<string>;
  /** Whether the provider is to keep the answer for later requests. */
  readonly store: MaybeField<boolean>;
  readonly leftovers: readonly Leftover[];
}
