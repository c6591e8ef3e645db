import { createRuleCompiler } from '../src/rules/policies/compiler.js';
import { compilePublished, compilePublishedSlowly } from '../src/rules/policies/published.js';
import type { PolicySet } from '../src/rules/policies/policy-set.js';
import type { PublishedPolicy } from '../src/rules/policies/published-policy.js';
import { cpuUs, median } from './support/measures.js';

const ROUNDS = 15;
const POLICIES = 500;
const TEXT_SIZES = [272, 1_024, 8_192, 65_536];

const subject = { projectId: 'proj_a', model: 'm', endpoint: '/v1/messages', user: 'kim' };
const words =
  'the of and to in is that it was for on are with as his they be at one have this from by hot but some what'.split(
    ' ',
  );

let seed = 20_310_131;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >> 8) % below;
};

/** Harmless prose of a size. */
const prose = (chars: number): string => {
  let text = '';
  while (text.length < chars) text += `${words[random(words.length)]!} `;
  return text.slice(0, chars);
};

const policyOf = (rule: string, n: number): PublishedPolicy => ({
  id: `pol_${n}`,
  name: `Policy ${n}`,
  version: 1,
  rule,
  direction: 'both',
  mode: 'enforcing',
  scope: 'organization',
  projectIds: [],
  thresholdBasisPoints: 5_000,
  createdAt: n,
});

/** Rules as people write them, each with words that the texts do not have. */
const literalRule = (n: number): string => {
  const word = `zq${n.toString(36)}xj`;
  switch (n % 4) {
    case 0:
      return `cel:text.contains("${word}")`;
    case 1:
      return `cel:text.matches("(?i)\\\\b${word}s?\\\\b")`;
    case 2:
      return `cel:(text.contains("${word}") || text.contains("${word}-2")) && tokens > 3`;
    default:
      return `cel:["${word}", "${word}!"].exists(w, text.contains(w)) ? 0.9 : 0.1`;
  }
};

/** CPU of one evaluation, microseconds. */
const measure = (set: PolicySet, text: string): number => {
  const piece = {
    text,
    direction: 'request' as const,
    categories: new Map(),
    terms: [],
    tokens: text.length >> 2,
  };
  const times = Math.max(4, Math.ceil(400_000 / text.length));
  const round = (): number => {
    const before = cpuUs();
    for (let n = 0; n < times; n++) set.evaluate(subject, piece);
    return (cpuUs() - before) / times;
  };
  for (let n = 0; n < 5; n++) round();
  return median(Array.from({ length: ROUNDS }, round));
};

const compileSets = () => {
  const rules = Array.from({ length: POLICIES }, (_, n) => literalRule(n));
  const setOf = (some: readonly string[]): PolicySet => compilePublished(some.map(policyOf));
  return { one: setOf(rules.slice(0, 1)), mixed: setOf(rules.slice(0, 4)), all: setOf(rules) };
};

const measureEvaluation = (): void => {
  const { one, mixed, all } = compileSets();
  const unfiltered = compilePublished([policyOf('cel:text.matches("[0-9]{4} ?[0-9]{4} ?[0-9]{4}")', 0)]);
  for (const chars of TEXT_SIZES) {
    const text = prose(chars);
    const [single, four, many, pattern] = [one, mixed, all, unfiltered].map((set) => measure(set, text));
    console.log(
      `${chars} characters, nothing matches: 1 policy ${single!.toFixed(1)} us, 4 (one of each kind) ${four!.toFixed(1)} us, ` +
        `${POLICIES} ${many!.toFixed(1)} us = ${(many! / single!).toFixed(2)} x one, ${(many! / four!).toFixed(2)} x four; ` +
        `1 pattern without a literal ${pattern!.toFixed(1)} us`,
    );
  }
};

/** Rules of 20,000 characters, and how long the loop stands still at most while they compile. */
const measureCompilation = async (): Promise<void> => {
  const many = (part: (n: number) => string, joint: string, count: number): string =>
    Array.from({ length: count }, (_, n) => part(n)).join(joint);
  const shapes: Readonly<Record<string, string>> = {
    'a chain of ||': many((n) => `text.contains("w${n}")`, ' || ', 800),
    'one long literal': `text.contains("${'long '.repeat(3_900)}")`,
    'a pattern of words': `text.matches("${many((n) => `w${n * 7_919}`, '|', 2_400)}")`,
    'many patterns': many((n) => `text.matches("(?i)\\\\bw${n}\\\\b")`, ' || ', 560),
    'a list of numbers': `[${many(() => '1', ',', 9_900)}].size() > 3`,
  };
  const compiler = createRuleCompiler();
  await compiler.check(`cel:true${' '.repeat(1_000)}`);
  for (const [shape, source] of Object.entries(shapes)) {
    const { set, wallMs, stallMs } = await watchLoop(() =>
      compilePublishedSlowly([policyOf(`cel:${source}`, 0)], compiler),
    );
    console.log(
      `compiling ${shape} (${source.length} characters): ${wallMs.toFixed(0)} ms beside the loop, which stood still for ${stallMs.toFixed(0)} ms at most; ${set.size} policy`,
    );
  }
  const rules = Array.from({ length: POLICIES }, (_, n) => policyOf(literalRule(n), n));
  const { wallMs, stallMs } = await watchLoop(() => compilePublishedSlowly(rules, compiler));
  console.log(
    `compiling ${POLICIES} policies: ${wallMs.toFixed(0)} ms, longest stall ${stallMs.toFixed(0)} ms`,
  );
  await compiler.close();
};

const watchLoop = async (act: () => Promise<PolicySet>) => {
  const start = performance.now();
  let [last, stallMs] = [start, 0];
  const look = (): void => {
    const now = performance.now();
    stallMs = Math.max(stallMs, now - last);
    last = now;
  };
  const ticking = setInterval(look, 1);
  const set = await act();
  look();
  clearInterval(ticking);
  return { set, stallMs, wallMs: last - start };
};

/** CPU of the organization's policies on text that none of them matches, and the standstill of their compilation. */
export const run = async (): Promise<void> => {
  measureEvaluation();
  await measureCompilation();
};
