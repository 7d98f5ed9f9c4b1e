import type { AlertWatch } from '../../alerts/watch.ts';
import type { MasterKeys } from '../../custody/seal.ts';
import type { HostNews } from '../../hosts/host-sign.ts';
import type { HostsHealth } from '../../hosts/hosts-health.ts';
import type { MetricsPart } from '../../http/metrics.ts';
import type { CreateHttpServer } from '../../http1/server.ts';
import type { Books } from '../books.ts';
import type { CallParts } from '../call-parts.ts';
import type { OtherWorkers } from '../reload.ts';
import type { StartTerms } from '../start-terms.ts';
import type { Order, Settings } from './messages.ts';
import { shareOf } from './share-of.ts';
import { ownState, type SharedMemory, sharedMemoryFor, type ThreadState, threadState } from './thread-state.ts';
import type { WorkerPool } from './worker-pool.ts';

/** The workers of a gateway, of which this thread is the first, and often the only one. */
export class Workers implements OtherWorkers {
  readonly count: number;
  readonly state: ThreadState;
  readonly #memory: SharedMemory | null;
  #pool: WorkerPool | null = null;

  constructor(count: number) {
    this.count = count;
    this.#memory = count === 1 ? null : sharedMemoryFor(count);
    this.state = this.#memory === null ? ownState() : threadState(this.#memory, 0);
  }

  /** What this thread has of a limit that is divided between the workers. */
  shareOf(limit: number): number {
    return shareOf(limit, { worker: 0, workers: this.count });
  }

  /** What the services of calls need of the workers. */
  get partsOfCore(): Pick<CallParts, 'state' | 'otherWorkers'> {
    return { state: this.state, otherWorkers: () => this.metrics() };
  }

  /** Starts the others. They listen when the server that `serverOf` returns does. */
  async start(start: StartTerms, parts: OtherWorkersParts): Promise<void> {
    if (this.#memory === null) return;
    // Loaded on demand: most gateways have one worker.
    const { WorkerPool } = await import('./worker-pool.ts');
    this.#pool = await WorkerPool.start({
      start,
      workers: this.count,
      memory: this.#memory,
      localAccountId: parts.localAccountId,
      masterKeys: parts.masterKeys,
      health: parts.health,
      ticket: () => parts.books.ticket(),
      notePayers: (payers) => parts.alerts.noteAll(payers),
    });
  }

  /** The callers' server, on a port that the workers share. */
  async serverOf(create: CreateHttpServer): Promise<CreateHttpServer> {
    if (this.#pool === null) return create;
    const { sharedServer } = await import('./shared-server.ts');
    return sharedServer(create, this.#pool);
  }

  share(news: HostNews): void {
    this.#pool?.tell({ kind: 'news', news });
  }

  tell(order: Extract<Order, { kind: 'own_ports' | 'use_keys' | 'ids_above' }>): void {
    this.#pool?.tell(order);
  }

  metrics(): Promise<readonly MetricsPart[]> {
    return this.#pool?.metrics() ?? Promise.resolve([]);
  }

  async prepareReload(settings: Settings): Promise<void> {
    await this.#pool?.prepareReload(settings);
  }

  async finishReload(keys: MasterKeys): Promise<void> {
    await this.#pool?.finishReload(keys);
  }

  /** For a start that fails, and after the drain. */
  async end(): Promise<void> {
    await this.#pool?.end();
  }
}

interface OtherWorkersParts {
  readonly books: Pick<Books, 'ticket'>;
  readonly health: Pick<HostsHealth, 'adopt'>;
  readonly alerts: Pick<AlertWatch, 'noteAll'>;
  readonly localAccountId: bigint | null;
  readonly masterKeys: MasterKeys;
}
