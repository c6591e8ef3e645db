import { asGatewayError } from '../core/errors.js';
import type { BlockKind, FinishReason, InferenceEvent } from '../core/events.js';
import { noUsage, type Usage } from '../core/usage.js';
import { settleReason } from './encoding.js';
import { unreadable } from './event.js';
import { JsonEnd } from './json-end.js';
import { orEstimated } from './tokens.js';

export interface TellOptions {
  /** The name shown for the model, where it is not the upstream's own. */
  readonly shownModel?: string | null;
  /** Stands in where the upstream names none. */
  readonly fallbackModel?: string;
  /** Counts as the input of an answer whose upstream never told its usage. */
  readonly estimatedInputTokens?: number;
  /** Counts what a whole answer says, where its upstream did not; a stream is counted by its deltas. */
  readonly countOutput?: () => number;
  /** Called with the usage known so far, whenever the upstream tells of it. */
  readonly learn?: (usage: Usage) => void;
}

export interface Call {
  readonly id: string;
  readonly name: string;
}

/** A run of one kind of content as the upstream numbers it. Written text that is interrupted goes on as a further block. */
export class Strand {
  readonly kind: BlockKind;
  readonly call: Call | null;
  readonly phase: 'commentary' | undefined;
  state: 'apart' | 'waiting' | 'live' = 'apart';
  index = -1;
  closing = false;
  signature = '';
  pieces: string[] = [];
  readonly input: JsonEnd | null;

  constructor(kind: BlockKind, call: Call | null = null, phase?: 'commentary') {
    this.kind = kind;
    this.call = call;
    this.phase = phase;
    this.input = kind === 'tool' ? new JsonEnd() : null;
  }

  /** Whether another block may begin: a call must be whole first, for nothing can be added to it later. */
  get mayStop(): boolean {
    return this.closing || this.input === null || this.input.reached;
  }
}

/**
 * Tells an answer in neutral events, in their order whatever the upstream's was: one start, blocks one at a time with
 * indexes from 0, usage, one ending. A block that begins while a call is unfinished waits behind it.
 */
export class Teller {
  readonly #hear: (event: InferenceEvent) => void;
  readonly #options: TellOptions;
  readonly #waiting: Strand[] = [];
  #live: Strand | null = null;
  #nextIndex = 0;
  #started = false;
  #called = false;
  #usage: Usage = noUsage;
  #outputTold = false;
  #deltas = 0;

  constructor(hear: (event: InferenceEvent) => void, options: TellOptions = {}) {
    this.#hear = hear;
    this.#options = options;
  }

  get started(): boolean {
    return this.#started;
  }

  /** Whether any text was told of. */
  get said(): boolean {
    return this.#deltas > 0;
  }

  /** Usage known so far; as long as the upstream has not told its final count, at least a token for each delta. */
  get usage(): Usage {
    const { estimatedInputTokens = 0, countOutput } = this.#options;
    const counted = this.#outputTold ? 0 : Math.max(this.#deltas, countOutput?.() ?? 0);
    return orEstimated(this.#usage, estimatedInputTokens, counted);
  }

  /** Only the first start counts: ids and models may change on the way. */
  start(id: unknown, model: unknown, usage: Usage | null = null): void {
    if (this.#started) return;
    this.#started = true;
    const { shownModel, fallbackModel = '' } = this.#options;
    const named = typeof model === 'string' && model !== '' ? model : fallbackModel;
    this.#hear({ type: 'start', id: typeof id === 'string' ? id : '', model: shownModel ?? named, usage });
  }

  /** `final` = the upstream's own count of its output, not a first guess. */
  learn(usage: Usage, final: boolean): void {
    this.#usage = usage;
    this.#outputTold ||= final && usage.output > 0;
    this.#options.learn?.(this.usage);
  }

  /** A call is told of at once, written text with its first piece. */
  open(strand: Strand): Strand {
    if (strand.kind === 'tool') this.#enter(strand);
    return strand;
  }

  write(strand: Strand, text: string): void {
    if (text === '') return;
    this.#deltas++;
    if (strand === this.#live) {
      this.#say(strand, text);
      if (this.#waiting.length > 0) this.#advance();
      return;
    }
    if (strand.state === 'apart') {
      if (strand.kind === 'tool')
        throw unreadable('The provider went on with a tool call that was complete.');
      this.#enter(strand);
    }
    if (strand === this.#live) this.#say(strand, text);
    else strand.pieces.push(text);
  }

  close(strand: Strand, signature = ''): void {
    if (signature !== '') strand.signature = signature;
    if (strand.state === 'apart') {
      if (strand.signature === '') return;
      this.#enter(strand);
    }
    strand.closing = true;
    this.#advance();
  }

  /** Every block ends, whatever is missing of it. */
  closeAll(): void {
    if (this.#live) this.#live.closing = true;
    for (const strand of this.#waiting) strand.closing = true;
    this.#advance();
  }

  finish(reason: FinishReason, stopSequence: string | null = null, explanation: string | null = null): void {
    this.start('', '');
    this.closeAll();
    this.#hear({ type: 'usage', usage: this.usage });
    this.#hear({
      type: 'finish',
      reason: settleReason(reason, this.#called),
      stopSequence,
      ...(explanation !== null && { explanation }),
    });
  }

  /** What could not be read, or says itself that it failed. */
  fail(thrown: unknown): 'failed' {
    const { code, message } = asGatewayError(thrown);
    this.#hear({ type: 'error', code, message });
    return 'failed';
  }

  #enter(strand: Strand): void {
    strand.state = 'waiting';
    strand.closing = false;
    this.#waiting.push(strand);
    this.#advance();
  }

  /** Lets blocks follow one another as far as they may. */
  #advance(): void {
    for (;;) {
      if (this.#live) {
        if (!this.#live.closing && (this.#waiting.length === 0 || !this.#live.mayStop)) return;
        this.#stop(this.#live);
      }
      const next = this.#waiting.shift();
      if (!next) return;
      this.#begin(next);
    }
  }

  #begin(strand: Strand): void {
    this.start('', '');
    const { kind, call, phase, pieces } = strand;
    strand.state = 'live';
    strand.index = this.#nextIndex++;
    strand.pieces = [];
    this.#live = strand;
    this.#called ||= kind === 'tool';
    this.#hear({
      type: 'block_open',
      index: strand.index,
      kind,
      ...(call && { toolId: call.id, toolName: call.name }),
      ...(phase && { phase }),
    });
    for (const piece of pieces) this.#say(strand, piece);
  }

  #say(strand: Strand, text: string): void {
    strand.input?.push(text);
    this.#hear({ type: 'delta', index: strand.index, text });
  }

  #stop(strand: Strand): void {
    const { index, signature } = strand;
    strand.state = 'apart';
    strand.signature = '';
    this.#live = null;
    this.#hear({ type: 'block_close', index, ...(signature !== '' && { signature }) });
  }
}
