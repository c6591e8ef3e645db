import {
  jsonReply,
  startFakeServer,
  type FakeOptions,
  type FakeReply,
  type FakeRequest,
  type FakeServer,
} from './fake-server.js';

type Document = Readonly<Record<string, unknown>>;

/** What an item answers instead of being written. */
export interface ItemFault {
  readonly status: number;
  readonly type: string;
  readonly reason?: string;
}

export interface FakeElasticOptions extends FakeOptions {
  /** The whole value of `Authorization`; absent = anything goes. */
  readonly authorization?: string;
  /** Whether an index that is not there is made; `logs-*-*` are data streams. */
  readonly autoCreate?: boolean;
  readonly pipelines?: readonly string[];
  readonly maxBytes?: number;
}

export interface FakeElastic extends FakeServer {
  /** By index, in the order of their coming. */
  documents(index?: string): Document[];
  /** Asked for each document before it is written. */
  failItems(choose: ((document: Document) => ItemFault | null) | null): void;
  setAuthorization(value: string): void;
}

const PRODUCT = { 'x-elastic-product': 'Elasticsearch' };
const actions = new Set(['create', 'index']);

/** The part of Elasticsearch that a bulk request meets. */
export const startFakeElastic = async (options: FakeElasticOptions = {}): Promise<FakeElastic> => {
  const { autoCreate = true, pipelines = [], maxBytes = 100_000_000 } = options;
  let { authorization } = options;
  let chooseFault: ((document: Document) => ItemFault | null) | null = null;
  const indexes = new Map<string, Map<string, Document>>();
  let made = 0;

  const error = (status: number, type: string, reason = ''): FakeReply =>
    jsonReply(status, { error: { root_cause: [{ type, reason }], type, reason }, status }, PRODUCT);

  const write = (action: string, index: string, id: string, document: Document, pipeline: string | null) => {
    const failed = (fault: ItemFault) => ({ _index: index, _id: id, status: fault.status, error: fault });
    if (pipeline !== null && !pipelines.includes(pipeline))
      return failed({
        status: 400,
        type: 'illegal_argument_exception',
        reason: `pipeline with id [${pipeline}] does not exist`,
      });
    const isStream = /^logs-[^-]+-[^-]+$/.test(index);
    if (isStream && action !== 'create')
      return failed({
        status: 400,
        type: 'illegal_argument_exception',
        reason: 'only write ops with an op_type of create are allowed in data streams',
      });
    if (!autoCreate && !isStream && !indexes.has(index))
      return failed({ status: 404, type: 'index_not_found_exception', reason: `no such index [${index}]` });
    const fault = chooseFault?.(document);
    if (fault) return failed(fault);
    const documents = indexes.get(index) ?? new Map<string, Document>();
    indexes.set(index, documents);
    if (action === 'create' && documents.has(id))
      return failed({
        status: 409,
        type: 'version_conflict_engine_exception',
        reason: 'document already exists',
      });
    documents.set(id, document);
    return { _index: index, _id: id, _version: 1, result: 'created', status: 201 };
  };

  const bulk = (request: FakeRequest, url: URL): FakeReply => {
    if (request.body.length > maxBytes) return error(413, 'content_too_large');
    const named = /^\/([^/]+)\/_bulk$/.exec(url.pathname)?.[1];
    const text = request.body.toString();
    if (!text.endsWith('\n'))
      return error(
        400,
        'illegal_argument_exception',
        'The bulk request must be terminated by a newline [\\n]',
      );
    const lines = text.slice(0, -1).split('\n');
    const items: unknown[] = [];
    for (let i = 0; i < lines.length; i += 2) {
      const [action = '', meta = {}] =
        Object.entries(JSON.parse(lines[i]!) as Record<string, Record<string, string>>)[0] ?? [];
      if (!actions.has(action))
        return error(400, 'illegal_argument_exception', 'Malformed action/metadata line');
      const index = meta['_index'] ?? decodeURIComponent(named ?? '');
      const id = meta['_id'] ?? `made-${made++}`;
      const document = JSON.parse(lines[i + 1]!) as Document;
      items.push({ [action]: write(action, index, id, document, url.searchParams.get('pipeline')) });
    }
    const errors = items.some((item) => JSON.stringify(item).includes('"error"'));
    const whole = { took: 1, errors, items };
    return jsonReply(200, url.searchParams.has('filter_path') ? onlyStatuses(whole) : whole, PRODUCT);
  };

  const server = await startFakeServer((request) => {
    const url = new URL(request.path, 'http://fake');
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return error(401, 'security_exception', 'missing or wrong authentication credentials');
    if (request.method === 'POST' && /^(\/[^/]+)?\/_bulk$/.test(url.pathname)) return bulk(request, url);
    if (url.pathname === '/')
      return jsonReply(
        200,
        {
          name: 'fake',
          version: { number: '8.19.0', build_flavor: 'default' },
          tagline: 'You Know, for Search',
        },
        PRODUCT,
      );
    return error(404, 'resource_not_found_exception');
  }, options);
  return {
    ...server,
    documents: (index) =>
      [...indexes]
        .filter(([name]) => index === undefined || name === index)
        .flatMap(([, all]) => [...all.values()]),
    failItems: (choose) => (chooseFault = choose),
    setAuthorization: (value) => (authorization = value),
  };
};

/** `filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason`. */
const onlyStatuses = ({
  errors,
  items,
}: {
  readonly errors: boolean;
  readonly items: readonly unknown[];
}) => ({
  errors,
  items: items.map((item) =>
    Object.fromEntries(
      Object.entries(item as Record<string, Partial<ItemFault> & { readonly error?: ItemFault }>).map(
        ([action, { status, error }]) => [
          action,
          { status, ...(error && { error: { type: error.type, reason: error.reason } }) },
        ],
      ),
    ),
  ),
});
