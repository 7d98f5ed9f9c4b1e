import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { acceptStoreLoss } from '../src/main/accept-loss.ts';
import { restoreStore } from '../src/main/restore-store.ts';
import { LedgerLost } from '../src/store/sqlite/lost-commits.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';

const clock = systemClock;
export const CALLS = 20;
export const COST = 1_000n;

/** A data folder whose files a test damages; made before each test and removed after it. */
export class LossFolder {
  home = '';
  /** What opening the folder has said. */
  notices: string[] = [];
  readonly #opened: Store[] = [];

  constructor() {
    beforeEach(() => {
      this.home = mkdtempSync(join(tmpdir(), 'tollgate-loss-'));
      this.notices = [];
    });
    afterEach(async () => {
      for (const store of this.#opened.splice(0)) await store.close();
      rmSync(this.home, { recursive: true });
    });
  }

  get folder(): string {
    return join(this.home, 'data');
  }

  /** The folder of the killed process, which the next one uses. */
  get running(): string {
    return join(this.home, 'running');
  }

  get database(): string {
    return join(this.folder, 'tollgate.sqlite');
  }

  get log(): string {
    return `${this.database}-wal`;
  }

  get mark(): string {
    return join(this.folder, 'tollgate.mark');
  }

  async open(where = this.folder, threads = false): Promise<Store> {
    const onNotice = (notice: string): void => void this.notices.push(notice);
    const store = await openSqliteStore({ folder: where, clock, threads, onNotice });
    this.#opened.push(store);
    return store;
  }

  /** A ledger of that many calls, as a process that is killed leaves it: what it committed last is in the log only. */
  async killedAfter(calls = CALLS): Promise<void> {
    await copyEmptyLedger(this.running);
    const store = await this.open(this.running);
    await prepare(store);
    await store.apply([aCredit(1n, 1_000_000_000n)]);
    for (let id = 1n; id <= BigInt(calls); id++) {
      await store.apply([aHold(id, 2n * COST)]);
      await store.apply([aSettle(id, COST)]);
    }
    cpSync(this.running, this.folder, { recursive: true });
  }

  async refusal(): Promise<LedgerLost> {
    const error = await this.open().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(LedgerLost);
    return error as LedgerLost;
  }

  accept(receipts: bigint | null) {
    return acceptStoreLoss({ folder: this.folder, receipts }, clock);
  }

  restore(file: string) {
    return restoreStore({ file, folder: this.folder, force: true, progress: () => undefined }, clock);
  }

  async expectLedger(receipts: number, losses: readonly bigint[]): Promise<void> {
    const store = await this.open();
    expect(await store.verify()).toMatchObject({ receipts, violations: [] });
    expect((await store.acceptedLosses()).map((loss) => loss.receipts)).toEqual(losses);
    await store.close();
  }
}

export function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 0x10;
  writeFileSync(file, bytes);
}
