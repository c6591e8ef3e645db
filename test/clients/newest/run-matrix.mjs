import { describe, it } from 'node:test';
import { cellsOf, upstreams } from '../matrix.js';

/** Every scenario through this client to every upstream; `open` makes the client for an address and a key. */
export const runMatrix = (open) => {
  const caller = open(process.env.SLUICE_URL, process.env.SLUICE_API_KEY);
  const straight = open(process.env.UPSTREAM_URL, 'upstream-key');
  for (const upstream of upstreams)
    describe(`${caller.name} reaches an upstream of ${upstream}`, () => {
      for (const { name, run } of cellsOf({ caller, upstream }, straight)) it(name, run);
    });
};
