import { Verifier, type Verification } from '../../../src/rules/audit/verify.js';

/** What `sluice audit verify` would say of these events. */
export function verifyEvents(events: readonly object[]): Verification {
  const verifier = new Verifier();
  for (const [n, event] of events.entries())
    if (!verifier.take(event as Record<string, unknown>, `event ${n + 1}`)) break;
  return verifier.result;
}
