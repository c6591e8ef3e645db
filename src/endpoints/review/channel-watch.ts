import type { BlockKind } from '../../core/events.js';
import { UNSUPPORTED_LANGUAGE } from '../../core/review.js';
import type { Edit } from '../../dialects/guard.js';
import { SUSPICION, type Engine, type Follower } from '../../rules/moderation/engine.js';
import type { Redactor, RedactFollower } from '../../text/redact.js';
import type { TermFollower } from '../../text/terms.js';
import type { Collected } from './collected.js';
import { decoded, isEscaped } from './json-strings.js';
import { maskArguments } from './mask.js';
import { Runs } from './runs.js';
import { masksData, reached, stoppers, type Scene } from './scene.js';

export type StreamMode = 'adaptive' | 'hold' | 'buffer' | 'async';

export interface WatchParts {
  readonly scene: Scene;
  readonly engine: Engine;
  readonly threshold: (category: string) => number;
  readonly mode: StreamMode;
  readonly holdChars: number;
  /** The user's last words: a short answer is judged with them. */
  readonly context: string;
  /** null = nobody looks for personal data. */
  readonly redactor: Redactor | null;
  readonly collected: Collected;
  /** Somebody outside has to be asked about windows of this text. */
  readonly asksOthers: boolean;
}

/** Expressions are tried on a window again when this much is new. */
const STEP_CHARS = 96;
/** Of what came before a long piece, as much is read with it again. */
const OVERLAP_CHARS = 20_480;

/** An unfinished window is looked at again when this much is new: every token would cost more than it tells. */
const GLANCE_CHARS = 12;

/** One channel of an answer: what was found in it, and how much of it may leave. Positions are the channel's own. */
export class ChannelWatch {
  readonly kind: BlockKind;
  readonly runs = new Runs();
  readonly #parts: WatchParts;
  readonly #follower: Follower;
  readonly #terms: TermFollower | null;
  readonly #data: RedactFollower | null;
  readonly #masks: boolean;
  readonly #enforces: boolean;
  readonly #reads: boolean;
  #length = 0;
  #closed = false;
  /** The latest text, as far back as an expression may look. */
  #recent = '';
  /** What others were not asked about yet, and before it the end of what they were. */
  #unasked = '';
  /** How far expressions, and whoever else is asked, have read. */
  #evaluated = 0;
  #answered = 0;
  #asked = 0;
  #hits = 0;
  /** How far the classifier lets text leave. */
  #judged = 0;
  /** When the unfinished window was last looked at, and what it looked like. */
  #lookedAt = 0;
  #suspicious = true;
  #edits: Edit[] = [];
  /** A call whole, for its arguments are masked as the JSON they are. */
  #call = '';
  #callFrom = -1;
  /** The call once more, by what it says: escapes hide words from whoever reads its spelling. */
  #decoded: ChannelWatch | null = null;

  constructor(kind: BlockKind, parts: WatchParts) {
    const { scene, engine, context, redactor } = parts;
    this.kind = kind;
    this.#parts = parts;
    this.#terms = (scene.standing.decides && scene.compiled.denylist?.follow()) || null;
    this.#data = kind === 'tool' ? null : (redactor?.follow() ?? null);
    this.#masks = masksData(scene);
    const reading = scene.policies.readsAnswers(scene.subject);
    this.#reads = reading !== 'no';
    const wanted = stoppers(scene);
    this.#follower = engine.follow(context, {
      categories: this.#reads ? [...wanted, UNSUPPORTED_LANGUAGE] : wanted,
    });
    this.#enforces = reading === 'enforcing';
  }

  get length(): number {
    return this.#length;
  }

  write(text: string, isFixed: boolean): void {
    if (this.kind === 'tool' && !isFixed) {
      if (this.#callFrom === -1) this.#callFrom = this.#length;
      this.#call += text;
    }
    this.#length += text.length;
    this.#terms?.write(text);
    this.#data?.write(text);
    if (this.#parts.asksOthers) this.#unasked += text;
    if (this.#reads) {
      const back = Math.max(this.#parts.holdChars + STEP_CHARS, Math.min(text.length, OVERLAP_CHARS));
      this.#recent = (this.#recent + text).slice(-(back + text.length));
      if (this.#length - this.#evaluated >= STEP_CHARS) this.#evaluate();
    }
    if (this.#follower.write(text)) this.#look();
    this.#gather();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#terms?.end();
    this.#data?.end();
    this.#follower.end();
    this.#evaluate();
    this.#look();
    this.#gather();
    if (this.kind !== 'tool') return;
    this.#decode();
    this.#maskCall();
  }

  /** How many characters may leave as far as this channel knows. */
  get safe(): number {
    const { mode, holdChars, asksOthers } = this.#parts;
    const data = this.#masks ? (this.#data?.safe ?? this.#length) : this.#length;
    if (mode === 'async') return this.kind === 'tool' && this.#masks && !this.#closed ? 0 : data;
    if (this.#decoded && this.#decoded.safe < this.#decoded.length) return 0;
    if (this.#closed) return asksOthers ? this.#answered : this.#length;
    if (mode === 'buffer' || this.kind === 'tool') return 0;
    let safe = Math.min(data, this.#terms?.safe ?? this.#length, this.#classified());
    if (this.#enforces) safe = Math.min(safe, this.#evaluated - holdChars);
    if (asksOthers) safe = Math.min(safe, this.#answered - holdChars);
    return Math.max(0, safe);
  }

  takeEdits(): readonly Edit[] {
    if (this.#masks && this.#data)
      for (const { from, to, text, kind } of this.#data.takeEdits()) {
        if (text !== '') this.#parts.collected.masked(kind);
        this.#edits.push({ from, to, text });
      }
    return this.#edits.splice(0);
  }

  /** Texts that others are to be asked about by now. */
  takeQuestions(): readonly string[] {
    const { mode, holdChars } = this.#parts;
    const inner = this.#decoded?.takeQuestions() ?? [];
    const due = this.#closed || (mode !== 'buffer' && this.#length - this.#asked >= holdChars);
    if (!due || this.#asked === this.#length) return inner;
    const text = this.#unasked;
    this.#asked = this.#length;
    this.#unasked = text.slice(-holdChars);
    return [text, ...inner];
  }

  answered(): void {
    this.#answered = this.#asked;
    this.#decoded?.answered();
  }

  /** Adaptive: text flows until it looks suspicious, then it waits for its verdict. */
  #classified(): number {
    if (this.#parts.mode === 'hold') return this.#length - this.#parts.holdChars;
    if (this.#length - this.#lookedAt >= GLANCE_CHARS || this.#lookedAt === 0) {
      this.#lookedAt = this.#length;
      this.#suspicious = this.#follower.suspicion() >= SUSPICION;
    }
    if (!this.#suspicious) this.#judged = this.#length;
    else this.#judged = Math.max(this.#judged, this.#follower.judged);
    return this.#judged;
  }

  #look(): void {
    const { collected, threshold } = this.#parts;
    const names = reached(this.#follower.scores, threshold);
    if (names.length > 0) collected.categories(names, this.#follower.scores);
  }

  #gather(): void {
    const hits = this.#terms?.hits ?? [];
    if (hits.length > this.#hits) {
      this.#parts.collected.denied(hits.slice(this.#hits).map(({ term }) => term));
      this.#hits = hits.length;
    }
    if (!this.#masks && this.#data)
      for (const { kind, text } of this.#data.takeEdits())
        if (text !== '') this.#parts.collected.masked(kind);
  }

  #evaluate(): void {
    this.#evaluated = this.#length;
    if (!this.#reads || this.#recent === '') return;
    const { policies, subject } = this.#parts.scene;
    const piece = {
      text: this.#recent,
      direction: 'response',
      categories: this.#follower.scores,
      terms: this.#terms?.hits.map(({ term }) => term) ?? [],
      tokens: Math.ceil(this.#length / 4),
    } as const;
    this.#parts.collected.policies(policies.evaluate(subject, piece));
  }

  #decode(): void {
    if (!isEscaped(this.#call)) return;
    const text = decoded(this.#call);
    this.#decoded = new ChannelWatch('text', { ...this.#parts, mode: 'buffer', redactor: null });
    for (let from = 0; from < text.length; from += OVERLAP_CHARS)
      this.#decoded.write(text.slice(from, from + OVERLAP_CHARS), false);
    this.#decoded.close();
  }

  #maskCall(): void {
    const { redactor, collected } = this.#parts;
    if (!redactor || this.#call === '') return;
    const masked = maskArguments(this.#call, redactor, (kind) => collected.masked(kind));
    if (this.#masks && masked !== this.#call)
      this.#edits.push({ from: this.#callFrom, to: this.#length, text: masked });
  }
}
