import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, mkdirSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Method } from '../../src/core/exchange.js';
import { compileMatcher } from '../../src/io/http/match.js';
import { readRepositoryFile, repositoryRoot } from './repository.js';

interface HeaderNode {
  readonly required: boolean;
  readonly schema: object;
}

interface ResponseNode {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseNode>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, ResponseNode>>;
    readonly headers: Readonly<Record<string, HeaderNode>>;
  };
}

/** The committed document: what clients are promised. */
const document = JSON.parse(readRepositoryFile('docs/openapi.json')) as Document;
const ajv = new Ajv2020({ strict: false, allErrors: false });
const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase() as Method,
    operation,
  })),
);
const match = compileMatcher(rows);

/** Faults of the request itself, which any operation may answer with. */
const general = new Set([400, 408, 415, 426, 431]);

const follow = <T extends object>(node: T): T => {
  const name = '$ref' in node && typeof node.$ref === 'string' ? node.$ref.split('/').slice(2) : null;
  if (!name) return node;
  const [kind, ...rest] = name as ['responses' | 'headers', ...string[]];
  return document.components[kind][rest.join('/')] as unknown as T;
};

const compiled = new WeakMap<object, ValidateFunction>();
const validatorOf = (schema: object): ValidateFunction => {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = ajv.compile({ ...schema, components: document.components });
    compiled.set(schema, validate);
  }
  return validate;
};

const complaint = (schema: object, value: unknown): string | null => {
  const validate = validatorOf(schema);
  return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: '' });
};

/** A response as it left the gateway. */
export interface Shown {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const operationOf = (method: string, path: string): Operation | null => {
  const found = match(method, path);
  return found && 'route' in found ? found.route.operation : null;
};

const responseFor = ({ responses }: Operation, status: number): ResponseNode | undefined =>
  responses[status] ??
  responses[`${Math.floor(status / 100)}XX`] ??
  (general.has(status) ? responses['default'] : undefined);

/** What is wrong with a response, by the document; null = nothing, or the document does not tell of it. */
export const faultOf = (shown: Shown): string | null => {
  const operation = operationOf(shown.method, shown.path);
  if (!operation) return null;
  const where = `${operation.operationId} ${shown.status}`;
  const response = responseFor(operation, shown.status);
  if (!response) return `${where}: the status is not documented: ${shown.body.slice(0, 500)}`;
  const { headers = {}, content = {} } = follow(response);
  for (const [name, node] of Object.entries(headers)) {
    const { required, schema } = follow<{ readonly $ref: string } | HeaderNode>(node) as HeaderNode;
    const text = shown.headers[name.toLowerCase()];
    if (text === undefined ? required : complaint(schema, readHeader(text, schema)) !== null)
      return `${where}: header ${name}: ${text ?? 'missing'}`;
  }
  const [type = ''] = (shown.headers['content-type'] ?? '').split(';');
  const described = content[type];
  if (!described) return `${where}: the content type ${type || '(none)'} is not documented`;
  if (type !== 'application/json') return null;
  const fault = complaint(described.schema, parse(shown.body));
  return fault === null ? null : `${where}: ${fault}: ${shown.body.slice(0, 500)}`;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // which no schema describes
  }
};

const readHeader = (text: string, schema: object): unknown =>
  'type' in schema && schema.type === 'integer' ? Number(text) : text;

/** One file per process, a line per pair; test/run.mjs reads them all (`test/openapi/coverage.mjs`). */
const seen = new Set<string>();
const seenFolder = join(repositoryRoot, 'dist', 'seen');
const noteSeen = (operationId: string, status: number): void => {
  const line = `${operationId} ${status}\n`;
  if (seen.has(line)) return;
  seen.add(line);
  mkdirSync(seenFolder, { recursive: true });
  appendFileSync(join(seenFolder, `${process.pid}.txt`), line);
};

const watched = new Set<number>();
const faults: string[] = [];

/** Holds every response of the server on this port to the document, whoever asks; the test file fails at its end. */
export const watchResponses = (port: number): void => void watched.add(port);

// Not a throw in a teardown: that would leave the other teardowns undone.
process.on('exit', () => {
  if (faults.length === 0) return;
  console.error(`Against docs/openapi.json:\n${faults.join('\n')}`);
  process.exitCode = 1;
});

interface Started {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

subscribe('http.server.request.start', (message) => {
  const { request, response, server } = message as Started;
  const address = server.address();
  if (typeof address !== 'object' || !address || !watched.has(address.port)) return;
  const { method = 'GET', url = '/' } = request;
  const [path = '/'] = url.split('?');
  const operation = operationOf(method, path);
  if (!operation || method === 'HEAD') return;
  record(response, {
    head: (status) => noteSeen(operation.operationId, status),
    whole: (status, headers, body) => {
      const fault = faultOf({ method, path, status, headers, body });
      if (fault !== null) faults.push(fault);
    },
  });
});

interface Listener {
  readonly head: (status: number) => void;
  /** Not called for an answer that broke off. */
  readonly whole: (status: number, headers: Record<string, string>, body: string) => void;
}

/** Reads along what is written; the gateway writes a head once, by `writeHead(status, headers)`. */
const record = (response: ServerResponse, { head, whole }: Listener): void => {
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response) as (...args: readonly unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: readonly unknown[]) => ServerResponse;
  const chunks: Buffer[] = [];
  let sent: { readonly status: number; readonly headers: Record<string, string> } | null = null;
  const keep = (chunk: unknown): void => {
    if (sent?.headers['content-type'] !== 'application/json') return;
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  response.once('close', () => {
    if (!sent) return;
    const { status, headers } = sent;
    const body = Buffer.concat(chunks);
    const isJson = headers['content-type'] === 'application/json';
    if (!isJson || headers['content-length'] === String(body.length)) whole(status, headers, body.toString());
  });
  Object.assign(response, {
    writeHead(status: number, headers: Record<string, string>) {
      sent = { status, headers };
      head(status);
      return writeHead(status, headers);
    },
    write(...args: readonly unknown[]) {
      keep(args[0]);
      return write(...args);
    },
    end(...args: readonly unknown[]) {
      keep(args[0]);
      return end(...args);
    },
  });
};
