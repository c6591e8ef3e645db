import { errorTable } from '../core/error-table.js';
import { json, type BytesReply, type JsonReply } from '../core/exchange.js';

/** Whether the gateway should be sent traffic, and why not. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

export const healthz = async (): Promise<JsonReply> => json({ status: 'alive' });

export const createReadyz = (readiness: () => Readiness) => async (): Promise<JsonReply> => {
  const { ready, reasons } = readiness();
  return json({ status: ready ? 'ready' : 'not_ready', reasons }, ready ? 200 : 503);
};

export const createMetricsPage =
  (render: () => Promise<{ readonly contentType: string; readonly text: string }>) =>
  async (): Promise<BytesReply> => {
    const { contentType, text } = await render();
    return { kind: 'bytes', status: 200, contentType, body: text };
  };

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>');

const rows = Object.entries(errorTable)
  .map(
    ([code, { status, type, when }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${type}</td><td>${escapeHtml(when)}</td></tr>`,
  )
  .join('\n');

const errorsPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sluice: errors</title>
<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}td,th{padding:.3rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}tr:target{background:#fff3c4}</style>
<h1>Errors</h1>
<table><tr><th>code</th><th>status</th><th>type</th><th>when, and what to do</th></tr>
${rows}
</table></html>`;

/** The page every `doc_url` points into (D16). */
export const errorsDocument = async (): Promise<BytesReply> => ({
  kind: 'bytes',
  status: 200,
  contentType: 'text/html; charset=utf-8',
  body: errorsPage,
});

/** The OpenAPI document as it was shipped; it is generated and committed with the code it describes. */
export const createOpenapiDocument = (document: string) => async (): Promise<BytesReply> => ({
  kind: 'bytes',
  status: 200,
  contentType: 'application/json',
  body: document,
});
