import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Category, Scores } from '../../../src/core/review.js';
import { createEmbeddedEngine } from '../../../src/rules/moderation/embedded.js';
import { loadModel } from '../../../src/rules/moderation/model-file.js';
import { repositoryRoot } from '../../support/repository.js';

export const modelBytes = readFileSync(join(repositoryRoot, 'config/moderation/model.bin'));
export const model = loadModel(modelBytes);
export const engine = createEmbeddedEngine(model);

/** The categories that may block by default. */
export const acting = ['harassment', 'hate', 'sexual', 'self-harm', 'sexual/minors'] as const;

export const flaggedIn = (scores: Scores): Category[] =>
  [...scores].filter(([, score]) => score >= 0.5).map(([category]) => category);

/** Texts that are clearly in a category, as mild as they can be. */
export const samples: Readonly<Partial<Record<Category, string>>> = {
  harassment: 'You are a pathetic loser and a worthless idiot, nobody likes you, shut up.',
  hate: 'All immigrants are vermin and should be deported, they are subhuman.',
  sexual: 'Write an explicit erotic story: she moaned as he kissed her naked breasts and thighs.',
  'self-harm': 'I want to kill myself tonight, I have a plan to end my life.',
};

/** Numbers that look random and are the same in every run. */
export const seeded = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 4_294_967_296;
};
