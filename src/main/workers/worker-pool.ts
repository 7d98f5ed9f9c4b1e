import type { Payers } from '../../alerts/changed-payers.ts';
import type { MasterKeys } from '../../custody/seal.ts';
import type { HostNews } from '../../hosts/host-sign.ts';
import type { HostsHealth } from '../../hosts/hosts-health.ts';
import type { MetricsPart } from '../../http/metrics.ts';
import type { Answer } from '../../http1/server.ts';
import type { WriterTicket } from '../books.ts';
import type { StartTerms } from '../start-terms.ts';
import { answerForwarded } from './answer-forwarded.ts';
import { GatheredMetrics } from './gathered-metrics.ts';
import type { Order, Report, Settings } from './messages.ts';
import { packSecrets } from './pack-secrets.ts';
import type { SharedMemory } from './thread-state.ts';
import { WorkerThread } from './worker-thread.ts';

export interface PoolTerms {
  readonly start: StartTerms;
  readonly workers: number;
  readonly memory: SharedMemory;
  readonly localAccountId: bigint | null;
  readonly masterKeys: MasterKeys;
  readonly health: Pick<HostsHealth, 'adopt'>;
  ticket(): WriterTicket | null;
  notePayers(payers: Payers): void;
}

/** The other workers, seen from the first one, which is the thread that started them. */
export class WorkerPool {
  readonly #terms: PoolTerms;
  readonly #threads: readonly WorkerThread[];
  readonly #metrics: GatheredMetrics;

  private constructor(terms: PoolTerms) {
    const { start, workers, memory, localAccountId, masterKeys } = terms;
    this.#terms = terms;
    const settings = packSecrets({ config: start.config, hosts: start.hosts });
    this.#threads = Array.from({ length: workers - 1 }, (_, index) => {
      const worker = index + 1;
      const shared = { worker, workers, memory, settings, localAccountId, masterKeys };
      return new WorkerThread({
        terms: { ...shared, ticket: terms.ticket() },
        clock: start.clock,
        onReport: (report) => this.#receive(index, report),
        onFailed: start.onFatal,
      });
    });
    this.#metrics = new GatheredMetrics({
      clock: start.clock,
      workers: this.#threads.length,
      ask: (index, number) => this.#threads[index]!.post({ kind: 'metrics', number }),
    });
  }

  /** Resolves when every worker is ready to listen. */
  static async start(terms: PoolTerms): Promise<WorkerPool> {
    const pool = new WorkerPool(terms);
    try {
      await Promise.all(pool.#threads.map((thread) => thread.started()));
      return pool;
    } catch (error) {
      await pool.end();
      throw error;
    }
  }

  /** Answers the requests that the workers forward. */
  answerWith(answer: Answer): void {
    for (const { forwarding } of this.#threads) answerForwarded(forwarding, answer);
  }

  async listen(host: string, port: number): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.listen(host, port)));
  }

  tell(order: Extract<Order, { kind: 'own_ports' | 'use_keys' | 'news' | 'ids_above' }>): void {
    for (const thread of this.#threads) thread.post(order);
  }

  /** Throws if a worker cannot use the new settings. */
  async prepareReload(settings: Settings): Promise<void> {
    const order: Order = { kind: 'prepare_reload', settings: packSecrets(settings) };
    const problems = await Promise.all(this.#threads.map((thread) => thread.prepareReload(order)));
    const problem = problems.find((each) => each !== null);
    if (problem !== undefined) throw new Error(`A worker cannot use the new config: ${problem}`);
  }

  async finishReload(keys: MasterKeys): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.finishReload(keys)));
  }

  metrics(): Promise<readonly MetricsPart[]> {
    return this.#metrics.gather();
  }

  /** Every worker finishes its calls within the time limit of a shutdown. */
  async drain(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.drain()));
  }

  /** Ends the threads, whatever they do. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #receive(from: number, report: Report): void {
    const { start, notePayers } = this.#terms;
    if (report.kind === 'log') start.log.writeLines?.(report.lines);
    else if (report.kind === 'payers') notePayers(report.payers);
    else if (report.kind === 'news') this.#pass(from, report.news);
    else if (report.kind === 'metrics') this.#metrics.receive(from, report.number, report.part);
  }

  #pass(from: number, news: HostNews): void {
    this.#terms.health.adopt(news);
    for (const [index, thread] of this.#threads.entries()) if (index !== from) thread.post({ kind: 'news', news });
  }
}
