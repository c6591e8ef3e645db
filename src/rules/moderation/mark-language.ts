import { UNSUPPORTED_LANGUAGE, type Category, type Scores } from '../../core/review.js';
import type { Engine, Follower } from './engine.js';

/** So much of an answer is looked at: enough to tell. */
const TELLING_CHARS = 600;

/** Says of a text that the engine cannot read it, as if that were a category: whoever names it decides what then. */
export const markLanguage = (engine: Engine): Engine => {
  const mark = (scores: Scores, isRead: boolean): Scores =>
    isRead ? scores : new Map<Category, number>([...scores, [UNSUPPORTED_LANGUAGE, 1]]);

  const markAnswer = (inner: Follower): Follower => {
    let beginning = '';
    let isRead: boolean | null = null;
    /** True = it is known now that it cannot be read. */
    const look = (): boolean => {
      isRead = engine.reads(beginning);
      beginning = '';
      return !isRead;
    };
    return {
      write(text) {
        const isJudged = inner.write(text);
        if (isRead !== null) return isJudged;
        beginning += text;
        return (beginning.length >= TELLING_CHARS && look()) || isJudged;
      },
      end() {
        inner.end();
        if (isRead === null) look();
      },
      get judged() {
        return inner.judged;
      },
      get scores() {
        return mark(inner.scores, isRead ?? true);
      },
      suspicion: () => inner.suspicion(),
    };
  };

  return {
    judge: async (text, options) => mark(await engine.judge(text, options), engine.reads(text)),
    judgeNow: (text) => mark(engine.judgeNow(text), engine.reads(text)),
    follow(context, options = {}) {
      const follower = engine.follow(context, options);
      const wanted = options.categories && [...options.categories];
      return wanted?.includes(UNSUPPORTED_LANGUAGE) ? markAnswer(follower) : follower;
    },
    reads: (text) => engine.reads(text),
  };
};
