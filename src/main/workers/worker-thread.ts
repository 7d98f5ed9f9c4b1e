import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import type { MasterKeys } from '../../custody/seal.ts';
import { type Clock, clockBaseMs } from '../../kit/clock.ts';
import { startThread } from '../../kit/start-thread.ts';
import { LIMITS } from '../../limits.ts';
import type { Order, Report, WorkerTerms } from './messages.ts';

/** A worker failed or ended by itself, and calls with it: the process cannot go on. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

/** Reports that answer an instruction, or say that a step is done. */
type Awaited = 'composed' | 'listening' | 'prepared' | 'reloaded' | 'drained';
type AwaitedReport = Extract<Report, { kind: Awaited }>;

interface WorkerThreadTerms {
  readonly terms: Omit<WorkerTerms, 'forwarding' | 'clockBaseMs'>;
  readonly clock: Clock;
  onReport(report: Exclude<Report, AwaitedReport>): void;
  onFailed(error: WorkerFailed): void;
}

/** A worker, seen from the first one. */
export class WorkerThread {
  /** Over which it forwards requests. */
  readonly forwarding: MessagePort;
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #onReport: WorkerThreadTerms['onReport'];
  readonly #onFailed: WorkerThreadTerms['onFailed'];
  readonly #name: string;
  readonly #waiting: { kind: Awaited; resolve(report: AwaitedReport): void; reject(error: Error): void }[] = [];
  #isEnding = false;
  #failure: WorkerFailed | null = null;

  constructor({ terms, clock, onReport, onFailed }: WorkerThreadTerms) {
    const { port1, port2 } = new MessageChannel();
    this.forwarding = port1;
    this.#clock = clock;
    this.#onReport = onReport;
    this.#onFailed = onFailed;
    this.#name = `Worker ${terms.worker + 1}`;
    const workerData: WorkerTerms = { ...terms, clockBaseMs: clockBaseMs(), forwarding: port2 };
    const transferList = terms.ticket === null ? [port2] : [port2, terms.ticket.writer.port];
    this.#worker = startThread(import.meta.url, 'call-worker', { workerData, transferList });
    this.#worker.on('message', (report: Report) => this.#receive(report));
    this.#worker.on('error', (cause) => this.#fail(`${this.#name} failed: ${String(cause)}`, cause));
    this.#worker.on('exit', () => this.#fail(`${this.#name} ended.`));
  }

  get isEnding(): boolean {
    return this.#isEnding || this.#failure !== null;
  }

  /** Returns false if the worker is ending, so that nothing was sent. */
  post(order: Order): boolean {
    if (this.isEnding) return false;
    this.#worker.postMessage(order);
    return true;
  }

  /** A worker that does not start in time has failed. */
  async started(): Promise<void> {
    const timer = this.#clock.after(LIMITS.workerStartMs, () => this.#fail(`${this.#name} does not start.`));
    try {
      await this.#expect('composed');
    } finally {
      timer.cancel();
    }
  }

  async listen(host: string, port: number): Promise<void> {
    this.post({ kind: 'listen', host, port });
    await this.#expect('listening');
  }

  /** Why it cannot use the new settings; null if it can. */
  async prepareReload(order: Extract<Order, { kind: 'prepare_reload' }>): Promise<string | null> {
    if (this.isEnding) return null;
    this.post(order);
    const report = await this.#expect('prepared');
    return report.kind === 'prepared' ? report.problem : null;
  }

  async finishReload(keys: MasterKeys): Promise<void> {
    if (this.isEnding) return;
    this.post({ kind: 'finish_reload', keys });
    await this.#expect('reloaded');
  }

  /** Resolves when its calls have ended and everything it has opened is closed. */
  async drain(): Promise<void> {
    if (this.isEnding) return;
    this.post({ kind: 'drain' });
    this.#isEnding = true;
    await this.#expect('drained');
    await this.end();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.forwarding.close();
    await this.#worker.terminate();
  }

  #expect(kind: Awaited): Promise<AwaitedReport> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiting.push({ kind, resolve, reject }));
  }

  #receive(report: Report): void {
    const at = this.#waiting.findIndex(({ kind }) => kind === report.kind);
    if (at === -1) this.#onReport(report as Exclude<Report, AwaitedReport>);
    else this.#waiting.splice(at, 1)[0]!.resolve(report as AwaitedReport);
  }

  #fail(message: string, cause?: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = new WorkerFailed(message, { cause });
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    if (!this.#isEnding) this.#onFailed(this.#failure);
  }
}
