import { afterEach, beforeEach } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import type { LedgerOperation, Store } from '../src/store/store.ts';
import { NOON_MS, type OpenStore, prepare, type StoreUnderTest } from './store-fixtures.ts';

/** The store of a test: created for each test, with account 1, a price list and a first instance. */
export class StoreSubject {
  clock = new ManualClock(NOON_MS);
  #underTest: StoreUnderTest | null = null;
  #store: Store | null = null;

  constructor(open: OpenStore) {
    beforeEach(async () => {
      this.clock = new ManualClock(NOON_MS);
      this.#underTest = await open(this.clock);
      this.#store = this.#underTest.store;
      await prepare(this.store);
    });
    afterEach(() => this.#underTest?.dispose());
  }

  get store(): Store {
    return this.#store!;
  }

  async reopen(): Promise<void> {
    this.#store = await this.#underTest!.reopen();
  }

  /** An account's balance, held and spent. */
  async balance(id = 1n): Promise<bigint[]> {
    const account = await this.store.findAccount(id);
    return [account!.balanceNanousd, account!.heldNanousd, account!.spentNanousd];
  }

  /** The outcomes of one batch, each as its reason or its kind. */
  async kinds(...operations: LedgerOperation[]): Promise<string[]> {
    const outcomes = await this.store.apply(operations);
    return outcomes.map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind));
  }
}
