import { jsonReply, startFakeServer, type FakeOptions, type FakeServer } from './fake-server.js';

export interface FakeDatadogOptions extends FakeOptions {
  readonly apiKey: string;
}

export interface FakeDatadog extends FakeServer {
  /** What was taken; an entry above a megabyte is cut off, as the real one does. */
  readonly entries: Readonly<Record<string, unknown>>[];
  setApiKey(apiKey: string): void;
}

const MOST_BYTES = 5_000_000;
const MOST_ENTRIES = 1_000;
const MOST_ENTRY_BYTES = 1_000_000;

/** Datadog's log intake, version 2, with its limits. */
export const startFakeDatadog = async (options: FakeDatadogOptions): Promise<FakeDatadog> => {
  const entries: Readonly<Record<string, unknown>>[] = [];
  let { apiKey } = options;
  const errors = (status: number, detail: string) =>
    jsonReply(status, { errors: [{ status: String(status), title: 'Error', detail }] });
  const server = await startFakeServer(({ method, path, headers, body }) => {
    if (method !== 'POST' || path !== '/api/v2/logs') return errors(404, 'Not found');
    if (headers['dd-api-key'] === undefined) return errors(401, 'API key missing');
    if (headers['dd-api-key'] !== apiKey) return errors(403, 'API key invalid');
    if (body.length > MOST_BYTES) return errors(413, 'Payload too large');
    let read: unknown;
    try {
      read = JSON.parse(body.toString());
    } catch {
      return errors(400, 'Invalid JSON');
    }
    const list = (Array.isArray(read) ? read : [read]) as readonly Readonly<Record<string, unknown>>[];
    if (list.length > MOST_ENTRIES) return errors(413, 'Too many entries');
    for (const entry of list) {
      const text = JSON.stringify(entry);
      entries.push(text.length > MOST_ENTRY_BYTES ? { cut: text.slice(0, MOST_ENTRY_BYTES) } : entry);
    }
    return jsonReply(202, {});
  }, options);
  return { ...server, entries, setApiKey: (next) => (apiKey = next) };
};
