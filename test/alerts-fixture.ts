import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Alerts } from '../src/alerts/alerts.ts';
import type { HostState } from '../src/alerts/operation-checks.ts';
import { AlertWatch, type WatchSettings } from '../src/alerts/watch.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import type { NewAlert } from '../src/store/alerts.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { KeyRow, Store } from '../src/store/store.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { aCredit, aHold, aSettle, NOON_MS, prepare } from './store-fixtures.ts';

export const GIGABYTE = 1024 ** 3;

const SETTINGS: WatchSettings = {
  balanceBelowNanousd: 500n,
  capPercent: 80,
  lossesPerHourNanousd: 1_000n,
  diskFreeBytes: GIGABYTE,
};

/** A ledger, and processes that look for alerts in it. */
export class AlertsFixture {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly raised: NewAlert[] = [];
  readonly errors: unknown[] = [];
  /** What the processes see of their hosts and their disk. */
  hosts: HostState[] = [];
  freeBytes: number | null = 5 * GIGABYTE;
  readonly #ids: IdSource;
  #credits = 0;

  private constructor(folder: string, clock: ManualClock, store: Store) {
    this.folder = folder;
    this.clock = clock;
    this.store = store;
    this.#ids = new IdSource(clock, 2);
  }

  static async open(): Promise<AlertsFixture> {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
    const clock = new ManualClock(NOON_MS);
    await copyEmptyLedger(folder);
    const store = await openSqliteStore({ folder, clock, threads: false });
    await prepare(store);
    return new AlertsFixture(folder, clock, store);
  }

  /** One process that looks for alerts. */
  watcher(settings: Partial<WatchSettings> = {}, machine = 'one'): AlertWatch {
    const { clock, store } = this;
    const ids = new IdSource(clock, this.raised.length + 3);
    const alerts = new Alerts({ store: store.directory, clock, ids, onRaised: (alert) => this.raised.push(alert) });
    return new AlertWatch({
      store,
      alerts,
      clock,
      settings: { ...SETTINGS, ...settings },
      machine,
      diskFreeBytes: async () => this.freeBytes,
      hosts: () => this.hosts,
      onError: (error) => this.errors.push(error),
    });
  }

  /** A call of account 1, which the watch is told of. */
  async call(watch: AlertWatch, costNanousd: bigint, key: KeyRow | null = null, lossNanousd = 0n): Promise<void> {
    await this.settle(costNanousd, key, lossNanousd);
    watch.note({ accountId: 1n, key }, costNanousd, lossNanousd, null);
  }

  async settle(costNanousd: bigint, key: KeyRow | null, lossNanousd: bigint): Promise<void> {
    const id = this.#ids.next();
    const loss = lossNanousd === 0n ? {} : { lossNanousd, lossReason: 'a reason' };
    const hold = aHold(id, costNanousd, { keyId: key?.id ?? null, personId: key?.personId ?? null });
    await this.store.apply([hold, aSettle(id, costNanousd, loss)]);
  }

  async credit(amount: bigint): Promise<void> {
    const reference = `r${++this.#credits}`;
    await this.store.apply([{ ...aCredit(1n, amount), id: this.#ids.next(), reference }]);
  }

  messages(): string[] {
    return this.raised.map(({ message }) => message);
  }

  async openConditions(): Promise<string[]> {
    const alerts = await this.store.directory.openAlerts({ after: null, limit: 100 });
    return alerts.map(({ condition }) => condition);
  }

  async close(): Promise<void> {
    expect(this.errors).toEqual([]);
    await this.store.close();
    rmSync(this.folder, { recursive: true });
  }
}
