import type { Catalog } from '../catalog/catalog.ts';
import type { Custody } from '../custody/custody.ts';
import type { Sealer } from '../custody/seal.ts';
import type { HostDirectory } from '../hosts/directory.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import type { Clock } from '../kit/clock.ts';
import type { IdSource } from '../kit/ids.ts';
import type { UsageStore } from '../store/usage-store.ts';
import type { CallLedger } from './call-ledger.ts';
import type { CallLimits } from './call-limits.ts';
import type { CallTracing } from './call-trace.ts';
import type { TokenCounter } from './counting/token-counter.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import type { BodyBudgets } from './guards/body-budgets.ts';
import type { BodyMemory } from './guards/body-memory.ts';
import type { CallSlots } from './guards/call-slots.ts';
import type { DeploymentWork } from './guards/deployment-work.ts';
import type { KeptBudget } from './guards/kept-budget.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { RunningCalls } from './running-calls.ts';
import type { TokenFactors } from './token-factors.ts';

/** The current prices: a catalog, and the store's id of its price list. */
export interface PricedCatalog {
  readonly catalog: Catalog;
  readonly priceId: number;
}

/** The services that a call needs, built once by main. */
export interface Gateway {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Prices and hosts are read once per call, so that a reload does not change a running call. */
  prices(): PricedCatalog;
  hosts(): HostDirectory;
  readonly health: HostsHealth;
  readonly ledger: CallLedger;
  readonly sealer: Sealer;
  readonly keptBudget: KeptBudget;
  /** Callers' own provider keys. */
  readonly custody: Custody;
  readonly limits: CallLimits;
  /** False: every frame of a stream is parsed, even if it repeats an earlier one. */
  readonly frameMemory: boolean;
  readonly runningCalls: RunningCalls;
  readonly slots: CallSlots;
  readonly bodyBudgets: BodyBudgets;
  readonly deploymentWork: DeploymentWork;
  /** The memory of responses. */
  readonly answers: BodyMemory;
  readonly countTokens: Pick<TokenCounter, 'count'>;
  readonly tokenFactors: TokenFactors;
  /** Null: calls are not traced. */
  readonly tracing: CallTracing | null;
  readonly usage: Pick<UsageStore, 'report'>;
  readonly refusals: Pick<RefusalLog, 'refused'>;
  /** Called once per call, after its last byte. */
  observe(record: ExchangeRecord): void;
}
