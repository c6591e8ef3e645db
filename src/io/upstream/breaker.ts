import { systemClock, type Clock } from '../../core/clock.js';

export interface BreakerOptions {
  /** Failures in a row that open a circuit. */
  readonly failures?: number;
  /** How long an open circuit rests before one call may probe. */
  readonly coolingMs?: number;
  /** Most circuits remembered; the one that failed first is forgotten. */
  readonly maxCircuits?: number;
  readonly clock?: Clock;
  /** Told when the first circuit of a provider opens and when its last one closes. */
  readonly onChange?: (provider: string, open: boolean) => void;
}

/** As what a call went out. */
export type Pass = 'regular' | 'probe';

/** What a call taught about its circuit; `unknown`: the caller left before it could tell. */
export type Health = 'alive' | 'failing' | 'unknown';

interface Circuit {
  readonly provider: string;
  failures: number;
  /** From then on one call may probe; null while closed. */
  probeAtMs: number | null;
}

/**
 * Circuits per provider and model. Only failing ones are kept, so a healthy call costs one look-up each way.
 * A probe pushes the next one a cooling time ahead: should it never report, the circuit is not stuck.
 */
export class Breakers {
  readonly #circuits = new Map<string, Circuit>();
  readonly #failures: number;
  readonly #coolingMs: number;
  readonly #maxCircuits: number;
  readonly #clock: Clock;
  readonly #onChange: (provider: string, open: boolean) => void;

  constructor({
    failures = 5,
    coolingMs = 15_000,
    maxCircuits = 1_000,
    clock = systemClock,
    onChange = () => {},
  }: BreakerOptions = {}) {
    this.#failures = failures;
    this.#coolingMs = coolingMs;
    this.#maxCircuits = maxCircuits;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Lets a call out, or gives null while the circuit is open. */
  enter(provider: string, model: string): Pass | null {
    if (this.#circuits.size === 0) return 'regular';
    const circuit = this.#circuits.get(key(provider, model));
    if (!circuit || circuit.probeAtMs === null) return 'regular';
    const nowMs = this.#clock.ticksMs();
    if (nowMs < circuit.probeAtMs) return null;
    circuit.probeAtMs = nowMs + this.#coolingMs;
    return 'probe';
  }

  /** Every call that entered leaves, once, with what it saw. */
  leave(provider: string, model: string, pass: Pass, health: Health): void {
    if (health === 'failing') this.#fail(provider, key(provider, model), pass);
    else if (this.#circuits.size === 0) return;
    else if (health === 'alive') this.#close(provider, key(provider, model));
    else if (pass === 'probe') {
      const circuit = this.#circuits.get(key(provider, model));
      if (circuit) circuit.probeAtMs = this.#clock.ticksMs();
    }
  }

  /** Until an open circuit may be probed; 0 where a call may go out. */
  waitMs(provider: string, model: string): number {
    const probeAtMs = this.#circuits.get(key(provider, model))?.probeAtMs ?? 0;
    return Math.max(0, probeAtMs - this.#clock.ticksMs());
  }

  /** How many circuits are open, for a gauge. */
  get open(): number {
    let open = 0;
    for (const circuit of this.#circuits.values()) if (circuit.probeAtMs !== null) open++;
    return open;
  }

  get size(): number {
    return this.#circuits.size;
  }

  #fail(provider: string, name: string, pass: Pass): void {
    const circuit = this.#circuits.get(name) ?? this.#add(provider, name);
    // Calls that went out before the circuit opened must not keep it open by coming in late.
    if (circuit.probeAtMs !== null && pass === 'regular') return;
    if (++circuit.failures < this.#failures) return;
    const isFirst = !this.#hasOpen(provider);
    circuit.probeAtMs = this.#clock.ticksMs() + this.#coolingMs;
    if (isFirst) this.#onChange(provider, true);
  }

  #close(provider: string, name: string): void {
    const circuit = this.#circuits.get(name);
    if (!circuit) return;
    this.#circuits.delete(name);
    if (circuit.probeAtMs !== null && !this.#hasOpen(provider)) this.#onChange(provider, false);
  }

  #hasOpen(provider: string): boolean {
    for (const circuit of this.#circuits.values())
      if (circuit.provider === provider && circuit.probeAtMs !== null) return true;
    return false;
  }

  #add(provider: string, name: string): Circuit {
    if (this.#circuits.size >= this.#maxCircuits)
      for (const oldest of this.#circuits.keys()) {
        this.#circuits.delete(oldest);
        break;
      }
    const circuit: Circuit = { provider, failures: 0, probeAtMs: null };
    this.#circuits.set(name, circuit);
    return circuit;
  }
}

const key = (provider: string, model: string): string => `${provider}\n${model}`;
