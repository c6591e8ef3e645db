import { SUSPICION_STEPS, stepOf } from '../rules/moderation/calibration.js';
import { modelCategories, type Calibration, type Model } from '../rules/moderation/model.js';
import { LOWEST } from '../rules/moderation/peaks.js';
import { Scan } from '../rules/moderation/scan.js';
import { MINORS_THRESHOLD } from './align-minors.js';
import { logitsOf, quantile } from './logits.js';
import type { Row } from './rows.js';

/** One harmless text in two hundred reaches the threshold, score 0.5; one in twenty the score 0.1. */
const FALSE_ALARMS = 0.005;
const NEAR_ALARMS = 0.05;
/** And of lookalikes three in two hundred; `illicit` cannot keep to that, and acts alone only far above its threshold. */
const LOOKALIKE_ALARMS = 0.015;
const ILLICIT = modelCategories.indexOf('illicit');
const NEAR_LOGIT = Math.log(9);
const SLOPE_BOUNDS = [0.5, 3] as const;

/**
 * Share of harmless streams that wait, by how much of the window is there. The first characters may wait, as long as
 * more than half of the streams begin at once and nearly all within nine tokens.
 */
const HELD = [0.4, 0.42, 0.42, 0.42, 0.42, 0.05, 0.04, 0.03] as const;
const STREAMS = 3_000;
const STREAM_CHARACTERS = 400;
const DELTA = 4;
/** `illicit` stops nothing by default, so it has no part in how much waits. */
const COUNTED = modelCategories.flatMap((category, index) => (category === 'illicit' ? [] : [index]));

const MINORS = modelCategories.indexOf('sexual/minors');
const MINORS_WIDTH = 1.5;
/** Sources of which only every so-many-th row counts: lists of words and glosses are not what people send. */
const SELDOM: Readonly<Record<string, number>> = { lemma: 6, wordnet: 3, 'identity-templates': 4 };

export const calibrate = (model: Model, rows: readonly Row[], lookalikes: readonly Row[]): Calibration => {
  const harmless = rows.filter(({ source }, index) => index % (SELDOM[source] ?? 1) === 0);
  const columns = columnsOf(logitsOf(model, harmless));
  const hard = columnsOf(logitsOf(model, lookalikes));
  const pairs = columns.map((column, category) => {
    const threshold = Math.max(
      quantile(column, 1 - FALSE_ALARMS),
      category === ILLICIT ? LOWEST : quantile(hard[category]!, 1 - LOOKALIKE_ALARMS),
    );
    const near = quantile(column, 1 - NEAR_ALARMS);
    if (category !== MINORS) return { threshold, near };
    const raised = Math.max(threshold, MINORS_THRESHOLD);
    return { threshold: raised, near: raised - MINORS_WIDTH };
  });
  const thresholds = pairs.map(({ threshold }) => threshold);
  const slopes = pairs.map(({ threshold, near }) => {
    const slope = NEAR_LOGIT / Math.max(1e-6, threshold - near);
    return Math.min(SLOPE_BOUNDS[1], Math.max(SLOPE_BOUNDS[0], slope));
  });
  return { thresholds, slopes, suspicions: findSuspicions(model, harmless) };
};

const columnsOf = (logits: readonly Float64Array[]): number[][] =>
  modelCategories.map((_, category) => logits.map((row) => row[category]!).sort(ascending));

const ascending = (one: number, other: number): number => one - other;

/** Reads harmless texts in small pieces, and sets the bars so that of each step only so many are held. */
const findSuspicions = (model: Model, harmless: readonly Row[]): number[][] => {
  const seen: Float64Array[][] = SUSPICION_STEPS.map(() => []);
  const scan = new Scan(model);
  const every = Math.max(1, Math.floor(harmless.length / STREAMS));
  for (const { text } of harmless.filter((_, index) => index % every === 0)) {
    scan.reset();
    for (let from = 0; from < Math.min(text.length, STREAM_CHARACTERS); from += DELTA) {
      scan.read(text.slice(from, from + DELTA));
      const logits = new Float64Array(modelCategories.length);
      seen[stepOf(scan.peek(logits))]!.push(logits);
    }
  }
  return seen.map((events, step) => findBars(events, HELD[step]!));
};

/** The same share in every category, such that together they hold no more than `held`. */
const findBars = (events: readonly Float64Array[], held: number): number[] => {
  const columns = columnsOf(events);
  // Just above the value, so that what has no evidence at all is never held.
  const barsAt = (share: number): number[] => columns.map((column) => quantile(column, 1 - share) + 1e-6);
  let [low, high] = [0, held];
  for (let round = 0; round < 20; round++) {
    const share = (low + high) / 2;
    const bars = barsAt(share);
    const stopped = events.filter((row) =>
      COUNTED.some((category) => row[category]! >= bars[category]!),
    ).length;
    if (stopped > held * events.length) high = share;
    else low = share;
  }
  return barsAt(low);
};
