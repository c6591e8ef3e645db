import { json, type Call, type JsonReply } from '../../core/exchange.js';
import type { Outcome, SinkSpec } from '../../core/sink.js';
import { getSink, listSinks, openSink, type SinkBook } from '../../rules/sinks/book.js';
import { createSink, deleteSink, updateSink } from '../../rules/sinks/change.js';
import { mutate, type MutationParts } from '../administration/mutate.js';
import { envelope, readPage } from '../administration/paging.js';
import { parseBody, pathId } from '../administration/parse.js';
import { ExportUpdate, NewExport } from './exports-schemas.js';

/** What the doors of exports need of the house. */
export interface ExportParts extends MutationParts {
  readonly book: SinkBook;
  /** The sinks of an organization are others now: resolves when the next event finds them so. */
  readonly changed: (organizationId: string) => Promise<void>;
  /** Sends one event marked as a test past the queue, and gives what the destination said. */
  readonly trySink: (spec: SinkSpec) => Promise<Outcome>;
}

/** Where audit events go (seed 4.9, D27). */
export const createExportDoors = (parts: ExportParts) => {
  const { book } = parts;
  const organizationOf = (call: Call): string => call.principal.organization.id;
  const idOf = (call: Call): string => pathId(call, 'export_id');

  return {
    list: async (call: Call): Promise<JsonReply> => {
      const { items, hasMore } = await listSinks(book, organizationOf(call), readPage(call, 'exp'));
      return json(envelope(items, hasMore));
    },

    get: async (call: Call): Promise<JsonReply> =>
      json({ export: await getSink(book, organizationOf(call), idOf(call)) }),

    create: async (call: Call): Promise<JsonReply> => {
      const { type, label, enabled, config } = parseBody(NewExport, call.body);
      const given = { type, label, enabled: enabled ?? true, config };
      return mutate(call, parts, async (also) => {
        const sink = await createSink(book, organizationOf(call), given, {
          also: (made) => also({ body: { export: made } }),
        });
        await parts.changed(organizationOf(call));
        return { body: { export: sink } };
      });
    },

    update: async (call: Call): Promise<JsonReply> => {
      const id = idOf(call);
      const edit = parseBody(ExportUpdate, call.body);
      return mutate(call, parts, async (also) => {
        const sink = await updateSink(book, organizationOf(call), id, edit, {
          also: (made) => also({ body: { export: made } }),
        });
        await parts.changed(organizationOf(call));
        return { body: { export: sink } };
      });
    },

    remove: async (call: Call): Promise<JsonReply> => {
      const id = idOf(call);
      return mutate(call, parts, async (also) => {
        const marker = await deleteSink(book, organizationOf(call), id, {
          also: (made) => also({ body: made }),
        });
        await parts.changed(organizationOf(call));
        return { body: marker };
      });
    },

    test: async (call: Call): Promise<JsonReply> => {
      const spec = await openSink(book, organizationOf(call), idOf(call));
      const startedMs = book.clock.ticksMs();
      const reason = reasonOf(await parts.trySink(spec));
      const latency_ms = Math.round(book.clock.ticksMs() - startedMs);
      return json({ ok: reason === null, reason, latency_ms });
    },
  };
};

/** Why the one event was not taken; null = it was. */
const reasonOf = (outcome: Outcome): string | null => {
  if (outcome.kind === 'accepted') return null;
  if (outcome.kind !== 'partly') return outcome.reason;
  const [item] = outcome.items;
  return item && item.kind !== 'accepted' ? item.reason : null;
};

export type ExportDoors = ReturnType<typeof createExportDoors>;
