import type { IncomingMessage } from 'node:http';
import type { Clock } from './core/clock.js';
import type { GatewayError } from './core/errors.js';
import type { Admit, Call, Lease, Meter, Route } from './core/exchange.js';
import type { Log } from './core/log.js';
import type { Principal } from './core/principal.js';
import type { PolicyHeaders } from './endpoints/review/policy-headers.js';
import type { Matcher } from './io/http/match.js';
import type { Metrics } from './io/metrics/metrics.js';
import type { Witness } from './witness.js';

/** Who sent a request, and how to give back what naming them took (the free request's claim). */
export interface Caller {
  readonly principal: Principal;
  readonly unused: () => Promise<void>;
}

/** What the walk needs of the house; a reload makes a new set, and requests under way keep theirs. */
export interface WalkParts {
  readonly match: Matcher<Route>;
  readonly identify: (req: IncomingMessage, route: Route, clientAddress: string) => Promise<Caller>;
  readonly admit: Admit;
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly usdPerCredit: number;
  /** Told of every admitted inference request when it is over. */
  readonly tally: (principal: Principal, meter: Meter) => void;
  /** Rejects a key of another project than the application names, where the organization wants that (D25). */
  readonly checkProject: (call: Pick<Call, 'principal' | 'headers'>) => Promise<void>;
  readonly witness: Witness;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** A request under way: what is known of it so far, for whoever ends it. */
export interface Trip {
  readonly requestId: string;
  readonly receivedMs: number;
  readonly abort: AbortController;
  readonly meter: Meter;
  route: Route | null;
  path: string;
  clientAddress: string;
  caller: Caller | null;
  lease: Lease | null;
  /** What the application says about its request (D25). */
  policy: PolicyHeaders;
  /** The client was gone before its answer was over. */
  clientLeft: boolean;
  failure: GatewayError | null;
  /** How long the client took to send its body. */
  uploadMs: number;
  /** When the handler had its reply, counted from the arrival; null before. */
  handledMs: number | null;
}
