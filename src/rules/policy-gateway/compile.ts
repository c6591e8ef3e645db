import { alwaysBlocked, covers, nameable, type Category, type Decision } from '../../core/review.js';
import { compileTermsSlowly, type Terms } from '../../text/terms.js';
import { modeOf, type GatewayConfig } from './config.js';

/** A configuration ready to be asked, made once per change. */
export interface CompiledConfig {
  readonly config: GatewayConfig;
  /** null = there is no such list. */
  readonly allowlist: Terms | null;
  readonly denylist: Terms | null;
  /** Every category that fires by itself or by one above it, the always-blocked ones included. */
  readonly blocked: ReadonlySet<Category>;
  /** What happens where one of its rules fires. */
  readonly mode: Exclude<Decision, 'allow'>;
}

/** Never holds up the loop, however long the lists are. */
export const compileConfig = async (config: GatewayConfig): Promise<CompiledConfig> => {
  const { allowlist, denylist, flagged_categories: flagged } = config.rules;
  return {
    config,
    allowlist: await compileList(allowlist),
    denylist: await compileList(denylist),
    blocked: new Set(nameable.filter((one) => covers(alwaysBlocked, one) || covers(flagged, one))),
    mode: modeOf(config),
  };
};

const compileList = async (terms: readonly string[]): Promise<Terms | null> =>
  terms.length === 0 ? null : compileTermsSlowly(terms);
