import type { OperationDoc } from '../../core/exchange.js';
import { jsonAnswer, pageQuery } from '../administration/describe.js';
import * as exports from './exports-schemas.js';

const tag = 'Exports';
const answer = jsonAnswer(exports.ExportAnswer);

/** How the OpenAPI document tells of export sinks. */
export const exportDocs = {
  list: {
    tag,
    summary: 'List audit-log exports',
    extension: true,
    query: pageQuery,
    answer: jsonAnswer(exports.ExportList),
  },
  get: { tag, summary: 'Read an audit-log export', extension: true, answer },
  create: {
    tag,
    summary: 'Create an audit-log export',
    description: 'It gets every event from now on. Secrets are never shown again: reads give `***`.',
    replayable: true,
    body: exports.NewExportShown,
    answer,
    statuses: [409],
  },
  update: {
    tag,
    summary: 'Update an audit-log export',
    description:
      'What is absent or null stays. Fields of `config` are merged; null takes one away; a secret sent as `***` stays. Another destination needs its secrets again. The type cannot change.',
    replayable: true,
    body: exports.ExportUpdate,
    answer,
  },
  remove: {
    tag,
    summary: 'Delete an audit-log export',
    extension: true,
    replayable: true,
    answer: jsonAnswer(exports.DeletedExport),
  },
  test: {
    tag,
    summary: 'Send one test event to an audit-log export',
    description:
      'Tells what the destination made of it. The event has the instance `test` and belongs to no chain.',
    extension: true,
    answer: jsonAnswer(exports.ExportTrial),
  },
} as const satisfies Record<string, OperationDoc>;
