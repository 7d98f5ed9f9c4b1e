import { systemClock } from '../../src/kit/clock.ts';
import { Heartbeat } from '../../src/ledger/heartbeat.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { LedgerOperation, LedgerOutcome, Store } from '../../src/store/store.ts';
import { Random } from '../../test/random.ts';
import { aCredit, aHold, aSettle } from '../../test/store-fixtures.ts';
import { type JobRoundTerms, jobRound } from './job-rounds.ts';
import { ACCOUNTS, keyOf, keysOf, type WorkerReport, type WorkerTerms } from './terms.ts';

const BATCH_MAX = 64;
const BATCHES_AT_ONCE = 2;
/** Open holds at once, so that some stay open for a while. */
const OPEN_MAX = 400;

/** One of several processes: holds, settles, voids, credits and jobs at random, and remembers the outcomes. */
class Worker {
  readonly #terms: WorkerTerms;
  readonly #store: Store;
  readonly #heartbeat: Heartbeat;
  readonly #random: Random;
  readonly #open: { readonly id: bigint; readonly amount: bigint }[] = [];
  readonly #ended: bigint[] = [];
  readonly #accountOf = new Map<bigint, bigint>();
  readonly #report = { operations: 0, outcomes: new Map<string, number>(), failures: [] as string[] };
  /** How each account's balance must have changed, as far as this process knows. */
  readonly #balances = new Map<bigint, bigint>();

  constructor(terms: WorkerTerms, store: Store, heartbeat: Heartbeat) {
    this.#terms = terms;
    this.#store = store;
    this.#heartbeat = heartbeat;
    this.#random = new Random(terms.seed);
  }

  async run(): Promise<WorkerReport> {
    await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, () => this.#work()));
    while (this.#open.length > 0) await this.#apply(this.#open.splice(0, BATCH_MAX).map(({ id }) => voidOf(id)));
    const { operations, outcomes, failures } = this.#report;
    const balances = [...this.#balances].map(([id, change]) => [String(id), String(change)] as const);
    return { operations, outcomes: [...outcomes], failures, balances };
  }

  async #work(): Promise<void> {
    while (this.#report.operations < this.#terms.operations) {
      const size = this.#random.between(1, BATCH_MAX);
      this.#report.operations += size;
      await this.#apply(Array.from({ length: size }, () => this.#operation()));
      if (this.#random.chance(0.3)) await jobRound(this.#jobTerms);
    }
  }

  get #jobTerms(): JobRoundTerms {
    const apply = (operations: readonly LedgerOperation[]) => this.#apply(operations);
    return { store: this.#store, heartbeat: this.#heartbeat, random: this.#random, apply };
  }

  async #apply(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    const outcomes = await this.#store.apply(operations);
    operations.forEach((operation, at) => {
      this.#note(operation, outcomes[at]!);
    });
    return outcomes;
  }

  #operation(): LedgerOperation {
    const random = this.#random;
    const turn = random.next();
    if (turn < 0.05) return this.#credit();
    if (turn < 0.1 && this.#ended.length > 0) return this.#again(random.pick(this.#ended));
    if (this.#open.length > OPEN_MAX || (turn < 0.55 && this.#open.length > 0)) return this.#end();
    return this.#hold();
  }

  #hold(): LedgerOperation {
    const accountId = BigInt(this.#random.between(1, ACCOUNTS));
    const keyId = keyOf(accountId, this.#random.below(keysOf(accountId)));
    const amount = BigInt(this.#random.between(0, 3_000));
    return aHold(this.#heartbeat.ids.next(), amount, {
      accountId,
      keyId,
      epoch: this.#heartbeat.epoch,
      createdMs: Date.now(),
    });
  }

  #end(): LedgerOperation {
    const [hold] = this.#open.splice(this.#random.below(this.#open.length), 1);
    const { id, amount } = hold!;
    this.#ended.push(id);
    if (this.#ended.length > OPEN_MAX) this.#ended.shift();
    if (this.#random.chance(0.2)) return voidOf(id);
    return aSettle(id, BigInt(this.#random.between(0, Number(amount))));
  }

  /** Ends a finished call once more, which must change nothing. */
  #again(id: bigint): LedgerOperation {
    return this.#random.chance(0.5) ? voidOf(id) : aSettle(id, 1n);
  }

  #credit(): LedgerOperation {
    const id = this.#heartbeat.ids.next();
    const amount = BigInt(this.#random.between(-2_000, 40_000)) || 1n;
    const reference = this.#random.chance(0.1) ? 'shared' : String(id);
    return aCredit(id, amount, { accountId: BigInt(this.#random.between(1, ACCOUNTS)), reference });
  }

  #note(operation: LedgerOperation, outcome: LedgerOutcome): void {
    const name = 'reason' in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind;
    this.#report.outcomes.set(name, (this.#report.outcomes.get(name) ?? 0) + 1);
    if (outcome.kind === 'operation_failed') this.#report.failures.push(outcome.message);
    if (operation.kind === 'hold' && outcome.kind === 'held') {
      if (operation.job === undefined) this.#open.push({ id: operation.id, amount: operation.amountNanousd });
      this.#accountOf.set(operation.id, operation.accountId);
    }
    if (operation.kind === 'settle' && outcome.kind === 'settled') {
      this.#change(this.#accountOf.get(operation.id)!, -operation.settlement.costNanousd);
      this.#accountOf.delete(operation.id);
    }
    if (operation.kind === 'credit' && outcome.kind === 'credited') {
      this.#change(operation.accountId, operation.amountNanousd);
    }
  }

  #change(accountId: bigint, by: bigint): void {
    this.#balances.set(accountId, (this.#balances.get(accountId) ?? 0n) + by);
  }
}

function voidOf(id: bigint): LedgerOperation {
  return { kind: 'void', id, reason: 'The campaign gave it back.' };
}

async function main(terms: WorkerTerms): Promise<void> {
  const store = await openPostgresStore({ url: terms.url, clock: systemClock });
  const heartbeat = await Heartbeat.begin({ store, clock: systemClock, onEvent: () => undefined });
  const report = await new Worker(terms, store, heartbeat).run();
  heartbeat.stop();
  await store.close();
  process.send!(report);
  process.disconnect();
}

process.once('message', (terms) => void main(terms as WorkerTerms));
