import type { GatewayError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import type { Splice } from '../io/sse/splice.js';
import type { CreditFields } from './dialect.js';
import { remask, retell, type Ear, type Heard } from './ear.js';
import type { Guard, Said } from './guard.js';
import { Hold } from './hold.js';
import type { Standing, Track } from './relay-stage.js';

interface Held {
  readonly frame: Frame;
  readonly repeats: boolean;
  /** It ends the answer. */
  readonly last: boolean;
}

/**
 * An answer whose frames wait until the guard lets their text leave. The track inside sees only what leaves, so that
 * it counts, completes and ends what the client really got.
 */
class GuardedTrack implements Track {
  readonly #track: Track;
  readonly #ear: Ear;
  readonly #guard: Guard;
  readonly #hold: Hold<Held>;
  #begun = false;
  #ended = false;
  #edited = false;
  #refusing = false;

  constructor(track: Track, ear: Ear, guard: Guard) {
    this.#track = track;
    this.#ear = ear;
    this.#guard = guard;
    this.#hold = new Hold(guard);
  }

  get usage(): Usage {
    return this.#track.usage;
  }

  get closable(): boolean {
    return this.#hold.idle && this.#track.closable;
  }

  get pending(): Promise<void> | null {
    return this.#guard.pending;
  }

  get begun(): boolean {
    return this.#begun;
  }

  take(frame: Frame, out: Splice): Standing {
    const text = this.#ear.plain(frame);
    if (text !== null) return this.#takePlain(frame, text, out);
    const heard = this.#ear.hear(frame);
    this.#hold.add({ frame, repeats: heard.repeats, last: heard.last }, heard.said);
    this.#conclude(heard);
    return this.go(out);
  }

  #takePlain(frame: Frame, text: string, out: Splice): Standing {
    if (!this.#hold.offer({ frame, repeats: false, last: false }, this.#ear.place(), text))
      return this.go(out);
    this.#ear.leftPlain(frame, text);
    return this.#track.take(frame, out);
  }

  go(out: Splice): Standing {
    // The ending waits for whoever is still being asked, also where the text did not.
    if (this.#ended && this.#guard.pending) return 'open';
    const at = { standing: 'open' as Standing };
    this.#hold.release(({ frame, repeats, last }, said, texts) => {
      // What is found at the very end, when all text has left, still makes it a refusal.
      if (at.standing !== 'open' || (last && this.#guard.stop)) return;
      this.#begun ||= said.some(({ text }) => text !== '');
      const told = this.#told(frame, repeats, said, texts);
      this.#ear.left(told, said, texts);
      at.standing = this.#track.take(told, out);
    });
    if (at.standing === 'open' && this.#guard.stop) {
      this.#refusing = true;
      return 'complete';
    }
    return at.standing;
  }

  cease(out: Splice): Standing {
    this.#end();
    return this.go(out);
  }

  close(fields: CreditFields, out: Splice): void {
    if (!this.#refusing) {
      this.#track.close(fields, out);
      return;
    }
    out.put(this.#ear.refuse({ ...this.#guard.stop!, usage: this.usage, fields }));
  }

  breakOff(error: GatewayError, out: Splice): void {
    this.#track.breakOff(error, out);
  }

  #conclude({ closed, last }: Heard): void {
    for (const channel of closed) this.#hold.close(channel);
    if (last) this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#hold.end();
  }

  #told(frame: Frame, repeats: boolean, said: readonly Said[], texts: readonly string[] | null): Frame {
    if (texts) this.#edited = true;
    const told = texts ? retell(frame, said, texts) : frame;
    return repeats && this.#edited ? remask(told, this.#guard) : told;
  }
}

/** The track as it is where nobody reads the answer. */
export const guarded = (track: Track, ear: () => Ear, guard: Guard | null): Track =>
  guard ? new GuardedTrack(track, ear(), guard) : track;
