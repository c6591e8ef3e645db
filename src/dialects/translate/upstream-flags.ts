import type { UpstreamFlags } from '../../core/upstream-flags.js';
import type { DialectName, ForwardOptions } from '../dialect.js';
import type { Ledger } from './ledger.js';

export { defaultFlags } from '../../core/upstream-flags.js';

/** What a writer needs beside the request. */
export interface Writing {
  readonly from: DialectName;
  readonly options: ForwardOptions;
  readonly flags: UpstreamFlags;
  readonly ledger: Ledger;
}
