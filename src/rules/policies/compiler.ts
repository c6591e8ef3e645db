import { Worker } from 'node:worker_threads';
import type { CompileAnswer, CompileRequest } from './compile-worker.js';
import { ExpressionFault, planExpression, type Prepared } from './expression.js';
import { compileRule, ruleFault, ruleOf, sourceOf, type Rule } from './rule.js';
import { DEFAULT_THRESHOLD_BASIS_POINTS } from './threshold.js';

/** Compiles rules without holding up the loop: a long one in a thread of its own, a short one here. */
export interface RuleCompiler {
  /** What is wrong with a rule is a 422 at `rule` that names the place. */
  compile(rule: string, thresholdBasisPoints?: number): Promise<Rule>;
  /** Throws when a rule cannot be used. */
  check(rule: string): Promise<void>;
  close(): Promise<void>;
}

/** A rule up to this length compiles in a few milliseconds, unless its patterns multiply. */
const SHORT = 600;
const MULTIPLIES = /\{\d*,?\d{2}|\\p|\[:/i;

const COMPILE_TIMEOUT_MS = 30_000;
const IDLE_MS = 10_000;
const HEAP_MB = 512;

interface Job extends CompileRequest {
  readonly resolve: (prepared: Prepared) => void;
  readonly reject: (error: Error) => void;
}

export const createRuleCompiler = (): RuleCompiler => {
  const thread = new CompilerThread();
  const compile = async (
    rule: string,
    thresholdBasisPoints = DEFAULT_THRESHOLD_BASIS_POINTS,
  ): Promise<Rule> => {
    const source = sourceOf(rule);
    if (source === null || (source.length <= SHORT && !MULTIPLIES.test(source)))
      return compileRule(rule, thresholdBasisPoints);
    try {
      const prepared = await thread.prepare({ source, thresholdBasisPoints });
      // Receiving it took a while already.
      await new Promise((resolve) => setImmediate(resolve));
      return ruleOf(planExpression(prepared));
    } catch (error) {
      if (!(error instanceof ExpressionFault)) throw error;
      throw ruleFault(rule, error);
    }
  };
  return {
    compile,
    check: async (rule) => {
      await compile(rule);
    },
    close: () => thread.close(),
  };
};

/** One worker, one job at a time, so that whoever makes it fail is known; started when needed, gone when idle. */
class CompilerThread {
  readonly #jobs: Job[] = [];
  #worker: Worker | null = null;
  #current: Job | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  prepare(request: CompileRequest): Promise<Prepared> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new Error('The compiler of rules is closed.'));
        return;
      }
      this.#jobs.push({ ...request, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = new Error('The compiler of rules is closed.');
    for (const { reject } of this.#jobs.splice(0)) reject(ended);
    this.#finish()?.reject(ended);
    await this.#end();
  }

  #next(): void {
    if (this.#current) return;
    const job = this.#jobs.shift();
    clearTimeout(this.#timer);
    if (!job) {
      this.#worker?.unref();
      this.#timer = setTimeout(() => void this.#end(), IDLE_MS).unref();
      return;
    }
    this.#current = job;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage({ source: job.source, thresholdBasisPoints: job.thresholdBasisPoints });
    this.#timer = setTimeout(() => this.#fail(null, 'takes too long to compile'), COMPILE_TIMEOUT_MS);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./compile-worker.js', import.meta.url), {
      name: 'rules',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.on('message', (answer: CompileAnswer) => this.#answer(worker, answer));
    worker.on('error', () => this.#fail(worker, 'is too large to compile'));
    worker.on('exit', () => this.#fail(worker, 'cannot be compiled'));
    return worker;
  }

  #answer(worker: Worker, answer: CompileAnswer): void {
    if (worker !== this.#worker) return;
    const job = this.#finish();
    if ('prepared' in answer) job?.resolve(answer.prepared);
    else if ('fault' in answer) job?.reject(new ExpressionFault(answer.fault.message, answer.fault.offset));
    else job?.reject(new Error(answer.broken));
    this.#next();
  }

  /** The worker is lost, and the rule it worked on is why; null = whichever there is. */
  #fail(worker: Worker | null, reason: string): void {
    if (worker !== null && worker !== this.#worker) return;
    void this.#end();
    this.#finish()?.reject(new ExpressionFault(reason, null));
    this.#next();
  }

  #finish(): Job | null {
    const job = this.#current;
    this.#current = null;
    clearTimeout(this.#timer);
    return job;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    clearTimeout(this.#timer);
    await worker?.terminate();
  }
}
