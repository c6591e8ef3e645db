/** What a rule in prose is about, as stems. */
export interface KeyWords {
  /** Each with its weight; what stands in a list of examples weighs more. */
  readonly words: ReadonlyMap<string, number>;
  /** What stands between quotation marks: found whole, it decides alone. */
  readonly phrases: readonly string[];
}

const EXAMPLE_WEIGHT = 2;
const QUOTED = /"([^"]{2,200})"|\u201c([^\u201d]{2,200})\u201d/g;
const EXAMPLES = /(?:such as|for example|for instance|including|e\.g\.|like) ([^.;:()]{1,500})/gi;

/** Words that say how a rule is meant, not what it is about: negations among them, for a rule names what it forbids. */
const stopWords = new Set(
  `a about above after again against all allow allowed always am an and answer answers any anybody anyone anything are
  ask asking asks as at avoid ban banned be because been before being below between block blocked both but by can cannot
  contain containing contains content could deny did disallow discuss discussing do does doing don down during each
  else especially etc even ever every example few flag for forbid forbidden form from further get give gives giving had
  has have having he her here hers him his how however i if in including instance instead into is it its itself just
  kind like made make makes making many matter may me mention mentioning mentions might message messages more most must
  my never no nobody none nor not nothing of off on once one only or other others our out over own people person please
  policy prevent prohibit prohibited prompt prompts provide provided provides providing refuse reject request requesting
  requests response responses rule said same say says shall she should show so some somebody someone something still stop
  such t talk talking tell tells text than that the their theirs them then there these they thing things this those
  through to too topic topics type under unless until up upon us use used user users using very want wants was we were
  what when where whether which while who whom why will with within without word words would write writing you your
  yours`.split(/\s+/),
);

const endings = /(?:ically|ations?|ating|ated|ates|ically|ically|fully|ingly|ings?|edly|ied|ies|ed|es|ly|s)$/;

export const stemsOf = (text: string): string[] =>
  (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map(stem);

/** Crude on purpose: both sides go through it, so it only has to be the same for both. */
const stem = (word: string): string => {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  const cut = word.replace(endings, '');
  const root = cut.length >= 3 ? cut : word;
  return root.length > 3 ? root.replace(/(?:e|i|y)$/, '').replace(/([b-df-hj-np-tv-z])\1$/, '$1') : root;
};

const stopStems = new Set([...stopWords].map(stem));

const isContent = (word: string): boolean =>
  !stopStems.has(word) && (word.length > 1 || !/^[a-z]$/.test(word));

export const keyWords = (rule: string): KeyWords => {
  const words = new Map<string, number>();
  const weigh = (text: string, weight: number): void => {
    for (const word of stemsOf(text))
      if (isContent(word)) words.set(word, Math.max(weight, words.get(word) ?? 0));
  };
  weigh(rule, 1);
  for (const [, examples = ''] of rule.matchAll(EXAMPLES)) weigh(examples, EXAMPLE_WEIGHT);
  const phrases = [...rule.matchAll(QUOTED)].flatMap(([, straight, curly]) => {
    const stems = stemsOf(straight ?? curly ?? '');
    return stems.some(isContent) ? [stems.join(' ')] : [];
  });
  return { words, phrases };
};
