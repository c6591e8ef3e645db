import type { Call } from '../core/exchange.js';
import type { Provider, UpstreamAnswer } from '../io/upstream/provider.js';
import type { Breakers } from '../io/upstream/breaker.js';
import { send, type Attempt } from '../io/upstream/send.js';
import type { Choice } from '../rules/models/catalog.js';
import { asProviderError } from './provider-errors.js';

/** A provider that can serve the request, under the name it knows the model by. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  readonly choice: Choice;
}

export interface Outbound {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Asked<T extends Target> {
  readonly target: T;
  readonly answer: UpstreamAnswer;
}

export interface AskParts {
  readonly breakers: Breakers;
  readonly attempted: (attempt: Attempt) => void;
  readonly ticksMs: () => number;
}

/** Asks the targets in turn until one answers well; throws the error the client is to see. */
export const ask = async <T extends Target>(
  call: Call,
  targets: readonly T[],
  build: (target: T) => Outbound | null,
  parts: AskParts,
): Promise<Asked<T>> => {
  const startedMs = parts.ticksMs();
  let asked = targets[0]?.provider.name ?? 'no provider';
  try {
    const { target, answer } = await send({
      targets,
      build,
      signal: call.signal,
      breakers: parts.breakers,
      onAttempt: (attempt) => {
        asked = attempt.provider;
        if (attempt.reached) call.meter.upstreamReached = true;
        parts.attempted(attempt);
      },
    });
    call.meter.provider = target.provider.name;
    call.meter.price = target.choice.price;
    return { target, answer };
  } catch (thrown) {
    throw asProviderError(asked, thrown);
  } finally {
    call.meter.upstreamWaitMs = parts.ticksMs() - startedMs;
  }
};
