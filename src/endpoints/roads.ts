import { GatewayError } from '../core/errors.js';
import type { Call } from '../core/exchange.js';
import { bridge, type Bridge } from '../dialects/bridge.js';
import { dialectNames, type DialectName } from '../dialects/dialect.js';
import type { Provider, ProviderKind } from '../io/upstream/provider.js';
import { mayUse, type Catalog, type Choice } from '../rules/models/catalog.js';
import type { Target } from './ask.js';

/** A target, and the way there and back. */
export interface Road extends Target {
  readonly bridge: Bridge;
  readonly path: string;
}

export interface RoadParts {
  readonly catalog: Catalog;
  readonly providers: ReadonlyMap<string, Provider>;
}

/** The format a provider speaks; the simulator speaks whichever it is asked in. */
const spoken: Readonly<Record<Exclude<ProviderKind, 'simulator'>, DialectName>> = {
  anthropic: 'messages',
  openai_chat: 'chat',
  openai_responses: 'responses',
};

/** Who can serve the model of a call, in the order to ask; throws where there is no such model or the key may not use it. */
export const findTargets = (model: string, call: Call, { catalog, providers }: RoadParts): Target[] => {
  const resolved = catalog.resolve(model, call.requestId);
  if (!resolved) throw new GatewayError('model_not_found', `There is no model ${model}.`, { param: 'model' });
  call.meter.model = resolved.label;
  if (!mayUse(call.principal.models, model))
    throw new GatewayError('model_not_allowed', `This key may not use ${model}.`, { param: 'model' });
  return targetsOf(resolved.choices, providers);
};

const targetsOf = (choices: readonly Choice[], providers: RoadParts['providers']): Target[] =>
  choices.flatMap((choice) => {
    const provider = providers.get(choice.provider);
    return provider ? [{ provider, model: choice.upstreamModel, choice }] : [];
  });

/** The ways of one client format to whoever is asked. */
const createWays = (client: DialectName) => {
  const bridges = new Map(dialectNames.map((upstream) => [upstream, bridge(client, upstream)]));

  return (target: Target): Road => {
    const { provider, choice } = target;
    if (client === 'messages' && choice.messagesPath !== null)
      return { ...target, bridge: bridges.get('messages')!, path: choice.messagesPath };
    const way = bridges.get(provider.kind === 'simulator' ? client : spoken[provider.kind])!;
    return { ...target, bridge: way, path: way.upstreamPath };
  };
};

/** Finds the roads of one client format. */
export const createRoadFinder = (client: DialectName, parts: RoadParts) => {
  const wayTo = createWays(client);
  return (model: string, call: Call): readonly Road[] => findTargets(model, call, parts).map(wayTo);
};

/** The same for choices that are known already. */
export const createRoadsTo = (client: DialectName, { providers }: RoadParts) => {
  const wayTo = createWays(client);
  return (choices: readonly Choice[]): readonly Road[] => targetsOf(choices, providers).map(wayTo);
};
