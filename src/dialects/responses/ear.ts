import type { BlockKind } from '../../core/events.js';
import type { Frame } from '../../io/sse/frame.js';
import { otherTexts } from '../answer-texts.js';
import { textIn } from '../decoding.js';
import type { Json } from '../dialect.js';
import { silence, type Ear, type Heard, type Place, type Refusal } from '../ear.js';
import { eventType, isObject, objectIn, readEvent } from '../event.js';
import type { Channel, Said } from '../guard.js';
import { Mould } from '../mould.js';
import { ResponseSoFar } from './so-far.js';

interface Run extends Place {
  /** All its text. */
  readonly pieces: string[];
}

const DELTA_PATH = ['delta'];
/** Where events hold text outside of items. */
const TOP_KEYS = ['text', 'refusal', 'arguments', 'input', 'code', 'output', 'logs', 'transcript', 'diff'];
/** What an event is about; everything else in it numbers and names that. */
const SUBJECTS = ['item', 'part', 'annotation', 'delta', 'command', 'outputs', 'results', 'message'];
const CALL_KEYS = /^(arguments|input|code)$/;

const kindOf = (type: string): BlockKind => {
  if (/arguments|input|code/.test(type)) return 'tool';
  if (type.includes('refusal')) return 'refusal';
  return type.includes('reasoning') ? 'reasoning' : 'text';
};

/** Sound is not text; what it says comes as a transcript. */
const isSound = (type: string): boolean => type.includes('audio') && !type.includes('transcript');

/** Hears the frames of /v1/responses. They say everything more than once: what was heard already is not read again. */
export class ResponsesEar implements Ear {
  readonly #mould = new Mould<Run>();
  readonly #runs = new Map<string, Run>();
  readonly #heard = new Set<string>();
  readonly #soFar: ResponseSoFar;
  #count = 0;

  constructor(shownModel: string | null) {
    this.#soFar = new ResponseSoFar(shownModel);
  }

  plain(frame: Frame): string | null {
    const text = this.#mould.textOf(frame);
    if (text !== null) this.#mould.served().pieces.push(text);
    return text;
  }

  place(): Place {
    return this.#mould.served();
  }

  leftPlain(frame: Frame, text: string): void {
    this.#soFar.leftDelta(frame, this.#mould.served().channel, text);
  }

  hear(frame: Frame): Heard {
    const type = eventType(frame);
    if (type === null) return silence;
    if (type.endsWith('.delta')) return isSound(type) ? silence : this.#delta(frame, type);
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return { ...this.#unheard(readEvent(frame)), last: true, repeats: true };
      case 'error':
        return { ...silence, last: true };
      case 'response.output_item.added':
        this.#mould.forget();
        return this.#announced(readEvent(frame));
      default:
        if (!type.endsWith('.done') && !type.endsWith('.added'))
          return isSound(type) ? silence : this.#unheard(readEvent(frame));
        return this.#repeated(type, readEvent(frame));
    }
  }

  left(frame: Frame, said: readonly Said[], texts: readonly string[] | null): void {
    this.#soFar.left(frame, said, texts);
  }

  refuse(refusal: Refusal): string {
    return this.#soFar.refuse(refusal);
  }

  #saying(run: Run, text: string): Heard {
    run.pieces.push(text);
    return { ...silence, said: [{ channel: run.channel, text, path: run.path }] };
  }

  #delta(frame: Frame, type: string): Heard {
    const event = readEvent(frame);
    const text = textIn(event, 'delta');
    if (text === '') return isObject(event.delta) ? this.#unheard(event) : silence;
    const run = this.#runOf(type.slice(0, -'.delta'.length), event);
    this.#mould.learn(frame, 'delta', text, run);
    return this.#saying(run, text);
  }

  /** A call is known by its name before it has arguments. */
  #announced(event: Json): Heard {
    const item = objectIn(event, 'item');
    const { name, id } = item;
    const unheard = this.#unheard(event);
    if (typeof name !== 'string') return unheard;
    const { channel } = this.#runOf('response.function_call_arguments', { ...event, item_id: id });
    return { ...unheard, said: [{ channel, text: `${name} `, path: null }, ...unheard.said] };
  }

  #repeated(type: string, event: Json): Heard {
    const name = type.slice(0, type.lastIndexOf('.'));
    const run = this.#runs.get(runId(name, event));
    const { said, closed } = this.#unheard(event);
    const ended = type.endsWith('.done') && run ? [run.channel] : [];
    return {
      said,
      closed: [...closed, ...ended, ...this.#closedWith(type, event)],
      last: false,
      repeats: true,
    };
  }

  /** With an item all that belongs to it is there. */
  #closedWith(type: string, event: Json): readonly Channel[] {
    if (type !== 'response.output_item.done') return [];
    const id = textIn(objectIn(event, 'item'), 'id');
    const prefix = `${id === '' ? String(event.output_index) : id}:`;
    return [...this.#runs.values()]
      .map(({ channel }) => channel)
      .filter((each) => each.id.startsWith(prefix));
  }

  #runOf(name: string, event: Json): Run {
    const id = runId(name, event);
    let run = this.#runs.get(id);
    if (!run)
      this.#runs.set(id, (run = { channel: { id, kind: kindOf(name) }, path: DELTA_PATH, pieces: [] }));
    return run;
  }

  /** Text of an event that no delta brought; it is whole. */
  #unheard(event: Json): Heard {
    for (const { pieces } of this.#runs.values())
      if (pieces.length > 0) {
        const whole = pieces.join('');
        this.#heard.add(whole);
        pieces.splice(0, pieces.length, whole);
      }
    const { output, error } = objectIn(event, 'response');
    const told = [
      ...TOP_KEYS.filter((key) => key in event).map((key) => [[key], event[key]] as const),
      ...SUBJECTS.filter((key) => isObject(event[key]) || Array.isArray(event[key])).map(
        (key) => [[key], event[key]] as const,
      ),
      [['response', 'output'], output] as const,
      [['response', 'error'], error] as const,
    ];
    const said = told
      .flatMap(([path, value]) => otherTexts(value, path, (at) => this.#channelFor(at)))
      .filter(({ text }) => !this.#heard.has(text) && this.#heard.add(text));
    return { ...silence, said, closed: said.map(({ channel }) => channel) };
  }

  #channelFor(at: readonly (string | number)[]): Channel {
    const key = String(at.at(-1));
    const isCall = CALL_KEYS.test(key);
    const kind = isCall ? 'tool' : key === 'refusal' ? 'refusal' : 'text';
    return { kind, id: `again:${this.#count++}` };
  }
}

/** A call is one run, whatever the names of its events. */
const runId = (name: string, event: Json): string => {
  const item = event.item_id ?? event.output_index;
  if (kindOf(name) === 'tool') return `${String(item)}:tool`;
  return `${String(item)}:${name}:${JSON.stringify(event.content_index ?? event.summary_index ?? 0)}`;
};
