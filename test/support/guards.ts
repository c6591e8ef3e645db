import type { BlockKind } from '../../src/core/events.js';
import type { Channel, Edit, Guard, Stop } from '../../src/dialects/guard.js';

export interface GuardScript {
  /** Characters kept back until the end; absent = none. */
  readonly holds?: number;
  /** Stops the answer before this character. */
  readonly stopsAt?: number;
  readonly stop?: Stop;
  /** Changed wherever it stands. */
  readonly word?: { readonly from: string; readonly to: string };
  /** Answers each piece of text only later. */
  readonly asks?: boolean;
}

export interface ScriptedGuard extends Guard {
  readonly text: string;
  readonly channels: ReadonlyMap<string, { readonly kind: BlockKind; readonly text: string }>;
  readonly ended: boolean;
}

/** A guard that does as it is told, and remembers what it was given. */
export const scriptGuard = (script: GuardScript = {}): ScriptedGuard => {
  const channels = new Map<string, { readonly kind: BlockKind; readonly text: string }>();
  let text = '';
  let ended = false;
  let taken = 0;
  let pending: Promise<void> | null = null;
  const { word, stopsAt = Infinity } = script;

  const clear = (): number => {
    const held = ended ? 0 : Math.max(script.holds ?? 0, word ? word.from.length : 0);
    return Math.min(Math.max(0, text.length - held), stopsAt);
  };
  return {
    write(channel: Channel, piece: string) {
      text += piece;
      const before = channels.get(channel.id);
      channels.set(channel.id, { kind: channel.kind, text: (before?.text ?? '') + piece });
      if (script.asks)
        pending = new Promise((resolve) => {
          setImmediate(() => {
            pending = null;
            resolve();
          });
        });
    },
    close: () => undefined,
    end() {
      ended = true;
    },
    get clear() {
      const at = clear();
      if (!word) return at;
      const inside = text.lastIndexOf(word.from, at - 1);
      return inside !== -1 && inside < at && inside + word.from.length > at ? inside : at;
    },
    get untouched() {
      return !word && !script.asks && text.length <= stopsAt;
    },
    takeEdits() {
      const edits: Edit[] = [];
      if (!word) return edits;
      for (let at = text.indexOf(word.from, taken); at !== -1; at = text.indexOf(word.from, at + 1)) {
        const to = at + word.from.length;
        if (to > this.clear) break;
        edits.push({ from: at, to, text: word.to });
        taken = to;
      }
      return edits;
    },
    get stop() {
      return text.length > stopsAt
        ? (script.stop ?? { notice: 'Blocked.', text: null, instruction: null })
        : null;
    },
    get pending() {
      return pending;
    },
    mask: (_kind, given) => (word ? given.replaceAll(word.from, word.to) : given),
    get text() {
      return text;
    },
    channels,
    get ended() {
      return ended;
    },
  };
};
