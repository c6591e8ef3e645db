import type { BlockKind } from '../../core/events.js';
import type { Judgement, PolicyFinding, Scores } from '../../core/review.js';
import type { Channel, Edit, Guard, Stop } from '../../dialects/guard.js';
import { ChannelWatch, type WatchParts } from './channel-watch.js';
import { maskArguments } from './mask.js';
import { masksData } from './scene.js';

/** What others say about a window of an answer. */
export interface Opinion {
  readonly categories: readonly string[];
  readonly scores: Scores;
  readonly policies: readonly PolicyFinding[];
  /** Nobody answered, and nothing may pass without an answer. */
  readonly missing?: true;
}

export interface GuardParts extends WatchParts {
  /** Asks whoever is not here: a moderation service, a model that judges prose. Never rejects. */
  readonly ask: ((text: string) => Promise<Opinion>) | null;
  /** Decides on what was collected so far. */
  readonly decide: () => Judgement;
  /** What a judgement that does not allow the answer means for it. */
  readonly stopFor: (judgement: Judgement) => Stop;
  /** Told of all text as it comes; null = nobody keeps it. */
  readonly overheard: ((channel: Channel, text: string, isFixed: boolean) => void) | null;
}

const UNMODERATED = 'The moderation service does not answer, so the rest of this answer is withheld.';

/** Reads an answer channel by channel and lets leave what every rule has let pass. */
export const createAnswerGuard = (parts: GuardParts): Guard => {
  const watches = new Map<string, ChannelWatch>();
  const edits: Edit[] = [];
  let length = 0;
  let clear = 0;
  let known = parts.collected.size;
  let stop: Stop | null = null;
  let pending: Promise<void> | null = null;
  let ended = false;
  /** The one channel there mostly is, without looking through all. */
  let latest: ChannelWatch | null = null;
  let latestId = '';

  const watchOf = ({ id, kind }: Channel): ChannelWatch => {
    if (latest !== null && latestId === id) return latest;
    let watch = watches.get(id);
    if (!watch) watches.set(id, (watch = new ChannelWatch(kind, parts)));
    [latest, latestId] = [watch, id];
    return watch;
  };

  const judge = (): void => {
    if (stop || parts.collected.size === known) return;
    known = parts.collected.size;
    const judgement = parts.decide();
    if (judgement.effective !== 'allow') stop = parts.stopFor(judgement);
  };

  /** What leaves is settled only after everybody had their say: a stop keeps back what came with its reason. */
  const settle = (): void => {
    if (parts.redactor)
      for (const watch of watches.values())
        for (const edit of watch.takeEdits()) edits.push(...watch.runs.spread(edit));
    judge();
    if (stop) return;
    let next = length;
    for (const watch of watches.values()) {
      const { safe } = watch;
      if (safe < watch.length) next = Math.min(next, watch.runs.placeOf(safe));
    }
    for (const { from, to } of edits) if (from < next && next < to) next = from;
    clear = Math.max(clear, next);
  };

  const question = (): void => {
    const { ask } = parts;
    if (!ask || stop || pending) return;
    const asked = [...watches.values()].flatMap((watch) =>
      watch.takeQuestions().map((text) => ({ watch, text })),
    );
    if (asked.length === 0) return;
    pending = Promise.all(asked.map(({ text }) => ask(text))).then((opinions) => {
      pending = null;
      for (const { categories, scores, policies, missing } of opinions) {
        parts.collected.categories(categories, scores);
        parts.collected.policies(policies);
        if (missing) stop ??= { notice: UNMODERATED, text: null, instruction: null };
      }
      for (const { watch } of asked) watch.answered();
      settle();
      question();
    });
  };

  return {
    write(channel, text, isFixed = false) {
      if (stop || text === '') return;
      parts.overheard?.(channel, text, isFixed);
      const watch = watchOf(channel);
      watch.runs.add(length, text.length);
      length += text.length;
      watch.write(text, isFixed);
      settle();
      question();
    },
    close(channel) {
      if (stop) return;
      watches.get(channel.id)?.close();
      settle();
      question();
    },
    end() {
      ended = true;
      if (stop) return;
      for (const watch of watches.values()) watch.close();
      settle();
      question();
    },
    get clear() {
      return clear;
    },
    get untouched() {
      return edits.length === 0 && stop === null && pending === null;
    },
    takeEdits() {
      if (edits.length === 0) return edits;
      edits.sort((a, b) => a.from - b.from);
      const count = edits.findIndex(({ to }) => to > clear);
      return edits.splice(0, count === -1 ? edits.length : count);
    },
    get stop() {
      return stop;
    },
    get pending() {
      // Without a hold nobody waits for an answer but at the end.
      return parts.mode === 'async' && !ended ? null : pending;
    },
    mask: (kind: BlockKind, text: string) => {
      const { redactor, scene } = parts;
      if (!redactor || !masksData(scene)) return text;
      return kind === 'tool' ? maskArguments(text, redactor) : redactor.redact(text).text;
    },
  };
};
