import { ManualClock } from '../src/kit/clock.ts';
import type { LedgerOperation, LedgerOutcome, Store } from '../src/store/store.ts';
import { aPerson, audit } from './people-fixtures.ts';
import {
  ALL_RECEIPTS,
  aCredit,
  aKey,
  anAccount,
  FIRST_PAGE,
  NOON_MS,
  type OpenStore,
  type StoreUnderTest,
} from './store-fixtures.ts';
import { jobsOf, WalkerJobs } from './store-model-jobs.ts';
import type { Apply, AtOnce, Step, UpdateKey } from './store-model-steps.ts';

/** One engine going through the steps. */
export class Walker {
  readonly clock = new ManualClock(NOON_MS);
  #subject: StoreUnderTest | null = null;
  #store: Store | null = null;
  #epoch = 0n;
  readonly #jobs = new WalkerJobs();

  get store(): Store {
    return this.#store!;
  }

  async begin(open: OpenStore): Promise<void> {
    this.#subject = await open(this.clock);
    this.#store = this.#subject.store;
    await this.store.createAccount(anAccount(1n));
    await this.store.createAccount(anAccount(2n));
    await this.store.createAccount(anAccount(3n, { kind: 'unlimited' }));
    for (const id of [1n, 2n]) await this.store.directory.createPerson(aPerson(id), audit('person.create'));
    await this.take({ step: 'putMember', accountId: 1n, personId: 1n, capNanousd: 180n, capWindow: 'week' });
    await this.store.createKey(aKey(1n, 1n, { capNanousd: 150n, capWindow: 'day' }));
    await this.store.createKey(aKey(2n, 1n, { personId: 1n }));
    await this.store.registerPrices('p1', '{}');
    await this.store.registerPrices('p2', '{}');
    await this.store.apply([aCredit(90n, 300n), aCredit(91n, 300n, { accountId: 2n })]);
    await this.take({ step: 'beginInstance' });
  }

  async take(step: Step): Promise<unknown> {
    if (step.step === 'apply') {
      return (await this.store.apply(await this.#current(step.operations))).map(withoutMessage);
    }
    if (step.step === 'clock')
      return this.clock.setNowMs(Math.max(NOON_MS, this.clock.nowMs() + step.hours * 3_600_000));
    if (step.step === 'updateKey') return this.store.updateKey(step.id, step.change);
    if (step.step === 'atOnce') {
      const [apply, update] = partsOf(step);
      return Promise.all([this.take(apply), this.take(update)]);
    }
    if (step.step === 'createKey') {
      const { id, accountId, personId } = step;
      return this.store.createKey(aKey(id, accountId, { personId })).catch(() => 'rejected');
    }
    if (step.step === 'setAccount') return this.#changeAccount(step);
    if (step.step === 'putMember' || step.step === 'removeMember' || step.step === 'setPerson') {
      return this.#changePeople(step);
    }
    if (step.step === 'closeBooks') {
      return this.store.closeBooks(step.forgetHours === null ? null : NOON_MS + step.forgetHours * 3_600_000);
    }
    if (step.step === 'sweep') return this.store.sweepIdempotencyKeys();
    if (step.step === 'putProviderKey') return this.store.putProviderKey(step.row).catch(() => 'rejected');
    if (step.step === 'deleteProviderKey') return this.store.deleteProviderKey(step.accountId, step.provider);
    if (step.step === 'reseal') return this.store.resealProviderKey(step.id, step.before, Uint8Array.of());
    if (step.step === 'reopen') {
      this.#store = await this.#subject!.reopen();
      return null;
    }
    if (step.step !== 'beginInstance') return this.#jobs.take(this.store, step, this.clock.nowMs());
    const instance = await this.store.beginInstance();
    this.#epoch = instance.epoch;
    return instance;
  }

  end(): Promise<void> {
    return this.#subject?.dispose() ?? Promise.resolve();
  }

  #changeAccount({ accountId, to }: Extract<Step, { step: 'setAccount' }>): Promise<unknown> {
    const { directory } = this.store;
    const row = audit(to);
    if (to === 'renamed') return directory.renameAccount(accountId, `account-${accountId % 2n}`, null, row);
    if (to !== 'closed') return directory.setAccountStatus(accountId, to, row);
    const payout = { id: 1_000n + accountId, reference: 'closing', note: 'paid out', createdMs: NOON_MS };
    return directory.closeAccount(accountId, payout, row);
  }

  #changePeople(step: Extract<Step, { step: 'putMember' | 'removeMember' | 'setPerson' }>): Promise<unknown> {
    const { directory } = this.store;
    const row = { ...audit(step.step), atMs: this.clock.nowMs() };
    if (step.step === 'setPerson') {
      const { personId, isDisabled } = step;
      return isDisabled ? directory.disablePerson(personId, row.atMs, row) : directory.enablePerson(personId, row);
    }
    const { accountId, personId } = step;
    if (step.step === 'removeMember') return directory.removeMembership(accountId, personId, row);
    const { capNanousd, capWindow } = step;
    return directory.putMembership({ accountId, personId, role: 'member', capNanousd, capWindow }, row);
  }

  /** A hold usually names the person of its key. */
  async #current(operations: Apply['operations']): Promise<LedgerOperation[]> {
    const current = operations.map(async (given) => {
      if ('pick' in given) return this.#jobs.operationOf(this.store, given, this.#epoch, this.clock.nowMs());
      const { isStale, isOthers, ...operation } = given;
      if (operation.kind !== 'hold') return operation;
      const key = operation.keyId === null ? null : await this.store.findKey(operation.keyId);
      const personId = isOthers ? 1n : (key?.personId ?? null);
      const epoch = isStale ? this.#epoch - 1n : this.#epoch;
      return { ...operation, personId, epoch, createdMs: this.clock.nowMs() };
    });
    return (await Promise.all(current)) as LedgerOperation[];
  }
}

/** Each engine has its own messages for failed operations. */
function withoutMessage(outcome: LedgerOutcome): unknown {
  if (outcome.kind === 'idempotent') return { ...outcome, kept: outcome.kept === null ? null : [...outcome.kept] };
  return outcome.kind === 'operation_failed' ? { kind: outcome.kind } : outcome;
}

/** Everything a caller can read. */
export async function stateOf(store: Store, nowMs: number): Promise<unknown> {
  const keys = await store.listKeys(null, FIRST_PAGE);
  return {
    accounts: await store.listAccounts(FIRST_PAGE),
    keys,
    changed: await store.keysChangedSince(2n),
    windows: await Promise.all(keys.map((key) => store.keyWindow(key.id))),
    members: await Promise.all([1n, 2n, 3n].map((id) => store.directory.listMembers(id, FIRST_PAGE, nowMs))),
    receipts: await store.listReceipts(ALL_RECEIPTS, FIRST_PAGE),
    providerKeys: (await store.providerKeysAfter(null, 100)).map((row) => ({ ...row, sealed: [...row.sealed] })),
    ofAccount: (await store.listProviderKeys(1n)).map((row) => row.provider),
    refunds: [...(await store.refundsOf(Array.from({ length: 25 }, (_, at) => BigInt(at + 1))))].sort(),
    entries: await Promise.all([1n, 2n, 3n].map((id) => store.listEntries(id, { before: null, limit: 100 }))),
    ...((await jobsOf(store, nowMs)) as object),
    report: await store.verify(),
  };
}

export function partsOf({ operations, id, change }: AtOnce): [Apply, UpdateKey] {
  return [
    { step: 'apply', operations },
    { step: 'updateKey', id, change },
  ];
}
