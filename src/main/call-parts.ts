import type { MasterKeys } from '../custody/seal.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { MetricSources } from '../http/metrics.ts';
import type { Caches } from '../kit/caches.ts';
import type { Books } from './books.ts';
import type { HostSenders } from './host-senders.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import type { StartTerms } from './start-terms.ts';
import type { Tracing } from './trace-exporter.ts';
import type { ThreadState } from './workers/thread-state.ts';

/** What the services of calls are built from, in one worker. */
export interface CallParts {
  readonly terms: Omit<StartTerms, 'onFatal' | 'hosts'>;
  readonly books: Pick<Books, 'store' | 'ids' | 'ledger'>;
  readonly inForce: SettingsInForce;
  readonly egress: HostSenders;
  readonly health: HostsHealth;
  readonly tracing: Tracing | null;
  readonly state: ThreadState;
  /** As another worker has read them; absent: this one reads them. */
  readonly masterKeys?: MasterKeys;
  /** Whether this worker reports what the workers have together. */
  readonly isFirstWorker: boolean;
  readonly otherWorkers?: MetricSources['otherWorkers'];
  readonly caches: Caches;
  /** Called once per call, for alerts. */
  notePayer(record: ExchangeRecord): void;
}
