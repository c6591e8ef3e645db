import type { InferenceEvent } from '../core/events.js';
import type { Usage } from '../core/usage.js';
import type { Frame } from '../io/sse/frame.js';
import type { Decoder } from './decoding.js';
import type { Json } from './dialect.js';
import { Mould } from './mould.js';
import type { Standing } from './relay-stage.js';
import { Teller, type Strand, type TellOptions } from './teller.js';

/** What the decoders of all formats have in common: most frames are another piece of the text before, and faults are told. */
export abstract class FormatDecoder implements Decoder {
  abstract readonly closable: boolean;
  protected readonly teller: Teller;
  protected readonly mould = new Mould<Strand>();

  constructor(hear: (event: InferenceEvent) => void, options: TellOptions = {}) {
    this.teller = new Teller(hear, options);
  }

  abstract finish(): void;
  /** Both may throw what is to be told as the answer's fault. */
  protected abstract read(frame: Frame): Standing;
  protected abstract readWhole(body: Json): Standing;

  get usage(): Usage {
    return this.teller.usage;
  }

  take(frame: Frame): Standing {
    try {
      const text = this.mould.textOf(frame);
      if (text === null) return this.read(frame);
      this.teller.write(this.mould.served(), text);
      return 'open';
    } catch (error) {
      return this.teller.fail(error);
    }
  }

  takeWhole(body: Json): Standing {
    try {
      return this.readWhole(body);
    } catch (error) {
      return this.teller.fail(error);
    }
  }
}
