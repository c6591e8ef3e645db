import { readExport, sortExports } from './read-export.js';
import { Verifier, type Verification } from '../rules/audit/verify.js';
import { FAILED, jsonOption, OK, UsageError, type Command } from './command.js';
import { formatJson } from './table.js';

export const verifyAudit: Command = {
  name: 'audit verify',
  about: 'Check exported audit events (NDJSON, plain or gzip): nothing missing, out of order or changed.',
  arguments: ['FILE...'],
  options: { ...jsonOption },
  async run(input, terminal) {
    const { result, otherLines } = await verify(input.arguments);
    const isWhole = result.fault === null && result.events > 0;
    if (input.switches.has('json'))
      terminal.out(formatJson({ ok: isWhole, ...result, other_lines: otherLines }));
    else if (isWhole) terminal.out(describe(result, otherLines));
    else terminal.err(`sluice: ${describeFault(result)}`);
    return isWhole ? OK : FAILED;
  },
};

async function verify(paths: readonly string[]) {
  const verifier = new Verifier();
  let otherLines = 0;
  try {
    for (const file of await sortExports(paths))
      otherLines += await readExport(file, (event, place) => verifier.take(event, place));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    throw new UsageError(error.message);
  }
  return { result: verifier.result, otherLines };
}

const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error &&
  ['ENOENT', 'EACCES', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const MOST_ENDED = 20;

function describe(result: Verification, otherLines: number): string {
  const { events, chains, duplicates, erased, missed, ended } = result;
  const remarks = [
    duplicates > 0 && `${plural(duplicates, 'repetition')} of events that were sent again`,
    erased > 0 &&
      `${plural(erased, 'event')} erased on request: their place is proved, their content is gone`,
    missed > 0 && `${plural(missed, 'event')} never recorded, as the trail itself says`,
    otherLines > 0 && `${plural(otherLines, 'line')} without an event`,
    ended.length > 0 &&
      `${plural(ended.length, 'chain')} without an event of the last day: a gateway that was stopped, or the end is missing`,
    ...ended
      .slice(0, MOST_ENDED)
      .map((end) => `  ${end.org_id}, ${end.instance_id}: last event ${end.last_event_at}`),
  ].filter((remark) => remark !== false);
  const found = `${plural(events, 'event')} in ${plural(chains, 'chain')}: whole, in order and unchanged.`;
  return [found, ...remarks.map((remark) => `  ${remark}`)].join('\n');
}

const describeFault = ({ fault }: Verification): string =>
  fault === null
    ? 'there is no audit event in these files'
    : `${fault.place}: ${fault.eventId ?? 'an event'}: ${fault.kind}. ${fault.message}`;
