import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../accounts/authenticate.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Custody } from '../custody/custody.ts';
import type { Sealer } from '../custody/seal.ts';
import type { HostDirectory } from '../hosts/directory.ts';
import type { HostHealth } from '../hosts/hosts-health.ts';
import type { Clock } from '../kit/clock.ts';
import type { IdSource } from '../kit/ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { TokenCounter } from '../money/count-tokens.ts';
import type { Wire } from '../wires/wire.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import type { CallSlots } from './guards/call-slots.ts';
import type { KeptBudget } from './guards/kept-budget.ts';
import type { Shutdown } from './guards/shutdown.ts';
import type { CallLimits } from './relay/attempt.ts';

/** The prices in force: a catalog, and the number under which the store remembers its price list. */
export interface PricedCatalog {
  readonly catalog: Catalog;
  readonly priceId: number;
}

/** The services a call passes through, built once by main. */
export interface Gateway {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Each read once per call, so that a reload never changes a call under way. */
  prices(): PricedCatalog;
  hosts(): HostDirectory;
  readonly health: HostHealth;
  readonly ledger: Ledger;
  readonly sealer: Sealer;
  readonly keptBudget: KeptBudget;
  /** Callers' own keys with providers. */
  readonly custody: Custody;
  readonly limits: CallLimits;
  readonly shutdown: Shutdown;
  readonly slots: CallSlots;
  readonly countTokens: Pick<TokenCounter, 'count'>;
  /** Told once per call, after its last byte. */
  observe(record: ExchangeRecord): void;
}

/** One request as http hands it over: authenticated, bounded, not yet understood. */
export interface Call {
  readonly id: bigint;
  readonly requestId: string;
  readonly route: string;
  readonly wire: Wire;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly startedMs: number;
}
