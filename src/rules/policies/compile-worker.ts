import { parentPort } from 'node:worker_threads';
import { ExpressionFault, prepareExpression, type Prepared } from './expression.js';

export interface CompileRequest {
  readonly source: string;
  readonly thresholdBasisPoints: number;
}

export type CompileAnswer =
  | { readonly prepared: Prepared }
  | { readonly fault: { readonly message: string; readonly offset: number | null } }
  | { readonly broken: string };

const port = parentPort!;

const answer = ({ source, thresholdBasisPoints }: CompileRequest): CompileAnswer => {
  try {
    return { prepared: prepareExpression(source, thresholdBasisPoints) };
  } catch (error) {
    if (error instanceof ExpressionFault) return { fault: { message: error.message, offset: error.offset } };
    return { broken: error instanceof Error ? error.message : String(error) };
  }
};

port.on('message', (request: CompileRequest) => port.postMessage(answer(request)));
