import assert from 'node:assert/strict';
import {
  checkAlways,
  scenarios,
  type Caller,
  type Cell,
  type Scenario,
  type Turn,
  type Upstream,
} from './scenarios.js';

export const upstreams: readonly Upstream[] = ['messages', 'chat', 'responses', 'simulator'];

/** Some libraries send what they believe a model of this name can take. */
const FAMILIES = ['', 'claude-sonnet-4-6-', 'gpt-5.4-'] as const;

/** The model that each upstream serves, on the gateway and on the upstream itself. */
const modelOf = ({ upstream, caller }: Cell): string => `${caller.family ?? ''}on-${upstream}`;

/** What a gateway in front of the scripted upstream serves. */
export const upstreamConfig = (url: string) => ({
  providers: {
    messages: { kind: 'anthropic', base_url: url, api_key: 'upstream-key' },
    chat: { kind: 'openai_chat', base_url: `${url}/v1`, api_key: 'upstream-key' },
    responses: { kind: 'openai_responses', base_url: `${url}/v1`, api_key: 'upstream-key' },
    simulator: { kind: 'simulator', ttft: '0ms', tokens_per_second: 1_000_000 },
  } as const,
  models: [
    ...upstreams.flatMap((upstream) =>
      FAMILIES.map((family) => ({
        name: `${family}on-${upstream}`,
        provider: upstream,
        price: { input_per_mtok: 3, output_per_mtok: 15 },
      })),
    ),
    { name: 'sim-small', provider: 'simulator' },
  ],
});

const CREDIT_FIELDS = ['remaining_credits', 'estimated_credits_used', 'estimated_cost_usd'];

/** `usage: null` is what chunks hold when usage was asked for; the gateway always does, and leaves their bytes alone. */
const isOurs = (key: string, value: unknown): boolean =>
  CREDIT_FIELDS.includes(key) || (key === 'usage' && value === null);

const withoutOurs = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, field: unknown) => (isOurs(key, field) ? undefined : field)));

/** Where the format is the same, the gateway gives what the upstream gives, field by field and event by event. */
const checkSame = (through: Turn, straight: Turn): void => {
  assert.deepEqual(withoutOurs(through.final), withoutOurs(straight.final));
  assert.deepEqual(withoutOurs(through.events), withoutOurs(straight.events));
};

/** One cell of the matrix: a scenario through a client to an upstream, also straight where the formats are the same. */
export const runCell = async (
  cell: Cell,
  scenario: Scenario,
  mode: string,
  straight: Caller | null,
): Promise<void> => {
  const { caller, upstream } = cell;
  const same = caller.format === upstream ? straight : null;
  const model = modelOf(cell);
  const talk = caller.begin(model, scenario.ask);
  const first = await talk.send(mode);
  scenario.check(first.heard, cell);
  checkAlways(first.heard, cell, mode);
  const directTalk = same?.begin(model, scenario.ask);
  const directFirst = await directTalk?.send(mode);
  if (directFirst) checkSame(first, directFirst);
  if (!scenario.then) return;
  const second = await talk.add(first, scenario.then).send(mode);
  scenario.checkThen?.(second.heard, cell);
  checkAlways(second.heard, cell, mode);
  if (directTalk && directFirst)
    checkSame(second, await directTalk.add(directFirst, scenario.then).send(mode));
};

export interface NamedCell {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Every cell of one client towards one upstream, by name. */
export const cellsOf = (cell: Cell, straight: Caller | null): readonly NamedCell[] =>
  scenarios
    .filter(({ skip }) => !skip?.(cell))
    .flatMap((scenario) =>
      cell.caller.modes.map((mode) => ({
        name: `${scenario.name} [${mode}]`,
        run: () => runCell(cell, scenario, mode, straight),
      })),
    );
