/** Tokens of one exchange, each counted once: cached input is not part of `input`, reasoning is part of `output`. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

export const addUsage = (one: Usage, other: Usage): Usage => ({
  input: one.input + other.input,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
});

/** US dollars per million tokens. */
export interface Price {
  readonly inputPerMtok: number;
  readonly outputPerMtok: number;
  readonly cacheReadPerMtok: number;
  readonly cacheWritePerMtok: number;
}

export const costUsd = (usage: Usage, price: Price): number =>
  (usage.input * price.inputPerMtok +
    usage.cacheRead * price.cacheReadPerMtok +
    usage.cacheWrite * price.cacheWritePerMtok +
    usage.output * price.outputPerMtok) /
  1_000_000;

/** A cost in whole credits, rounded up; a float's dust above a whole number does not cost one more. */
export const creditsFor = (usd: number, usdPerCredit: number): number =>
  Math.ceil(Number((usd / usdPerCredit).toFixed(6)));
