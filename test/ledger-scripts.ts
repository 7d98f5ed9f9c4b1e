import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../src/kit/clock.ts';
import type { CapWindow, LedgerOperation, LedgerOutcome, Store } from '../src/store/store.ts';
import { aPerson, audit } from './people-fixtures.ts';
import {
  aCredit,
  aHold,
  aKey,
  aSettle,
  NOON_MS,
  type OpenStore,
  prepare,
  type StoreUnderTest,
} from './store-fixtures.ts';

const HOUR_MS = 3_600_000;

/**
 * Scripts for one account with one key. A row has: event, outcome, then the account's balance, held and spent,
 * then the key's held and spent in its present window. `hold 1 60 < 50` has a ceiling, `hold 1 60 bare` no key, and
 * `hold 1 60 mine` another key, of a person whose cap `member` sets.
 */
const SCRIPTS: Record<string, string> = {
  'a call that costs less than its worst case': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    hold 1 60          | held              | 100  60   0 | 60   0
    hold 2 41          | balance 40        | 100  60   0 | 60   0
    settle 1 25        | settled           |  75   0  25 |  0  25
    hold 2 75          | held              |  75  75  25 | 75  25
    settle 2 75        | settled           |   0   0 100 |  0 100
    hold 3 1           | balance 0         |   0   0 100 |  0 100
    hold 3 0           | held              |   0   0 100 |  0 100
    settle 3 0         | settled           |   0   0 100 |  0 100`,

  'a retried top-up': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    credit 100 a       | credit_repeated 100 | 100 0   0 |  0   0
    credit 90 a        | reference_differs | 100   0   0 |  0   0
    hold 1 80          | held              | 100  80   0 | 80   0
    credit -21 b       | exceeds_available | 100  80   0 | 80   0
    credit -20 b       | credited 80       |  80  80   0 | 80   0
    settle 1 80        | settled           |   0   0  80 |  0  80
    credit 5 c         | credited 5        |   5   0  80 |  0  80`,

  'a refund': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    cap 70 lifetime    |                   | 100   0   0 |  0   0
    hold 1 60          | held              | 100  60   0 | 60   0
    refund 1 10 r      | not_settled       | 100  60   0 | 60   0
    settle 1 50        | settled           |  50   0  50 |  0  50
    refund 1 51 r      | exceeds_cost      |  50   0  50 |  0  50
    refund 1 30 r      | credited 80       |  80   0  50 |  0  50
    refund 1 30 r      | credit_repeated 80 | 80   0  50 |  0  50
    refund 1 21 s      | exceeds_cost      |  80   0  50 |  0  50
    credit 30 r        | reference_differs |  80   0  50 |  0  50
    hold 2 21          | key_cap 20        |  80   0  50 |  0  50
    refund 1 20 s      | credited 100      | 100   0  50 |  0  50
    refund 9 1 t       | no_receipt        | 100   0  50 |  0  50`,

  'a settlement that comes twice, or too late': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    hold 1 50          | held              | 100  50   0 | 50   0
    settle 1 51        | exceeds_hold      | 100  50   0 | 50   0
    settle 1 -1        | negative          | 100  50   0 | 50   0
    settle 1 50        | settled           |  50   0  50 |  0  50
    settle 1 50        | settle_repeated 50 | 50   0  50 |  0  50
    settle 1 0         | settle_repeated 50 | 50   0  50 |  0  50
    void 1             | void_not_open     |  50   0  50 |  0  50
    hold 2 50          | held              |  50  50  50 | 50  50
    void 2             | voided            |  50   0  50 |  0  50
    settle 2 10        | settle_found_void |  50   0  50 |  0  50
    settle 9 0         | no_hold           |  50   0  50 |  0  50`,

  'ceiling, cap and balance, in this order': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    cap 70 lifetime    |                   | 100   0   0 |  0   0
    hold 1 200 < 10    | cost_ceiling 10   | 100   0   0 |  0   0
    hold 1 200 < 200   | key_cap 70        | 100   0   0 |  0   0
    hold 1 200 bare    | balance 100       | 100   0   0 |  0   0
    hold 1 70 < 70     | held              | 100  70   0 | 70   0
    hold 2 1           | key_cap 0         | 100  70   0 | 70   0
    hold 2 31 bare     | balance 30        | 100  70   0 | 70   0
    hold 2 30 bare     | held              | 100 100   0 | 70   0
    settle 1 30        | settled           |  70  30  30 |  0  30
    hold 3 41          | key_cap 40        |  70  30  30 |  0  30
    hold 3 40          | held              |  70  70  30 | 40  30
    cap 20 lifetime    |                   |  70  70  30 | 40  30
    settle 3 40        | settled           |  30  30  70 |  0  70
    hold 4 1           | key_cap 0         |  30  30  70 |  0  70`,

  "a person's cap, after the key's and before the balance": `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    member 40 lifetime |                   | 100   0   0 |  0   0
    hold 1 200 mine    | person_cap 40     | 100   0   0 |  0   0
    hold 1 30 mine     | held              | 100  30   0 |  0   0
    hold 2 11 mine     | person_cap 10     | 100  30   0 |  0   0
    hold 2 70          | held              | 100 100   0 | 70   0
    hold 3 10 mine     | balance 0         | 100 100   0 | 70   0
    settle 1 5         | settled           |  95  70   5 | 70   0
    hold 3 25 mine     | held              |  95  95   5 | 70   0
    member 20 day      |                   |  95  95   5 | 70   0
    void 3             | voided            |  95  70   5 | 70   0
    hold 4 21 mine     | person_cap 20     |  95  70   5 | 70   0
    hold 4 20 mine     | held              |  95  90   5 | 70   0
    hours 12           |                   |  95  90   5 | 70   0
    hold 5 5 mine      | held              |  95  95   5 | 70   0
    restart            | voided 3          |  95   0   5 |  0   0
    hold 6 21 mine     | person_cap 20     |  95   0   5 |  0   0
    disable            |                   |  95   0   5 |  0   0
    hold 6 1 mine      | key_inactive      |  95   0   5 |  0   0`,

  'an account that is suspended, resumed and closed': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    hold 1 60          | held              | 100  60   0 | 60   0
    suspend            | changed           | 100  60   0 | 60   0
    hold 2 1           | account_suspended | 100  60   0 | 60   0
    credit 10 b        | credited 110      | 110  60   0 | 60   0
    close              | calls_open 60     | 110  60   0 | 60   0
    settle 1 25        | settled           |  85   0  25 |  0  25
    resume             | changed           |  85   0  25 |  0  25
    close              | not_suspended     |  85   0  25 |  0  25
    hold 2 5           | held              |  85   5  25 |  5  25
    suspend            | changed           |  85   5  25 |  5  25
    restart            | voided 1          |  85   0  25 |  0  25
    close              | closed 85         |   0   0  25 |  0  25
    hold 3 0           | account_closed    |   0   0  25 |  0  25
    credit 10 c        | account_closed    |   0   0  25 |  0  25
    resume             | closed            |   0   0  25 |  0  25
    close              | already_closed    |   0   0  25 |  0  25`,

  'a daily cap over midnight': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    cap 40 day         |                   | 100   0   0 |  0   0
    hold 1 30          | held              | 100  30   0 | 30   0
    hours 11           |                   | 100  30   0 | 30   0
    hold 2 11          | key_cap 10        | 100  30   0 | 30   0
    hours 1            |                   | 100  30   0 |  0   0
    hold 2 40          | held              | 100  70   0 | 40   0
    settle 1 30        | settled           |  70  40  30 | 40   0
    hours -24          |                   |  70  40  30 | 40   0
    hold 3 1           | key_cap 0         |  70  40  30 | 40   0
    settle 2 5         | settled           |  65   0  35 |  0   5
    hold 3 35          | held              |  65  35  35 | 35   5`,

  'a process that dies with holds open': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    hold 1 30          | held              | 100  30   0 | 30   0
    hold 2 30          | held              | 100  60   0 | 60   0
    settle 1 10        | settled           |  90  30  10 | 30  10
    restart            | voided 1          |  90   0  10 |  0  10
    settle 2 20        | settle_found_void |  90   0  10 |  0  10
    hold 3 90          | held              |  90  90  10 | 90  10
    restart            | voided 1          |  90   0  10 |  0  10`,

  'a key that is revoked while its calls run': `
    credit 100 a       | credited 100      | 100   0   0 |  0   0
    hold 1 30          | held              | 100  30   0 | 30   0
    revoke             |                   | 100  30   0 | 30   0
    hold 2 1           | key_inactive      | 100  30   0 | 30   0
    hold 2 1 bare      | held              | 100  31   0 | 30   0
    settle 1 30        | settled           |  70   1  30 |  0  30`,
};

/** Runs the scripts on an engine, once with one event per batch and once with runs of events in one batch. */
export function ledgerScripts(name: string, open: OpenStore): void {
  describe(`ledger scripts: ${name}`, () => {
    let subject: StoreUnderTest;
    let clock: ManualClock;

    beforeEach(async () => {
      clock = new ManualClock(NOON_MS);
      subject = await open(clock);
      await prepare(subject.store);
      await subject.store.createKey(aKey(7n, 1n));
    });

    afterEach(() => subject.dispose());

    for (const [title, script] of Object.entries(SCRIPTS)) {
      it(title, async () => {
        const teller = new Teller(subject, clock);
        for (const row of rowsOf(script)) {
          const outcome = await teller.tell(row.event);
          expect([row.event, outcome, await teller.amounts()]).toEqual([row.event, row.outcome, row.amounts]);
        }
        expect((await teller.store.verify()).violations).toEqual([]);
      });

      it(`${title}, in batches`, async () => {
        const teller = new Teller(subject, clock);
        for (const rows of runsOfMoney(rowsOf(script))) {
          const outcomes = await teller.tellTogether(rows.map((row) => row.event));
          expect(outcomes).toEqual(rows.map((row) => row.outcome));
          expect(await teller.amounts()).toEqual(rows.at(-1)?.amounts);
        }
        expect((await teller.store.verify()).violations).toEqual([]);
      });
    }
  });
}

interface Row {
  readonly event: string;
  readonly outcome: string;
  readonly amounts: readonly number[];
}

function rowsOf(script: string): Row[] {
  const lines = script.trim().split('\n');
  return lines.map((line) => {
    const [event, outcome, account, key] = line.split('|').map((cell) => cell.trim());
    return { event: event!, outcome: outcome!, amounts: `${account} ${key}`.trim().split(/\s+/).map(Number) };
  });
}

/** Consecutive money events form one batch; any other event is alone. */
function runsOfMoney(rows: readonly Row[]): Row[][] {
  const runs: Row[][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last !== undefined && isMoney(row.event) && isMoney(last[0]!.event)) last.push(row);
    else runs.push([row]);
  }
  return runs;
}

function isMoney(event: string): boolean {
  return /^(credit|refund|hold|settle|void) /.test(event);
}

/** The key of a hold, by the word after it. */
const OWNERS: Readonly<Record<string, { readonly keyId: bigint | null; readonly personId?: bigint }>> = {
  bare: { keyId: null },
  mine: { keyId: 8n, personId: 5n },
};

/** Turns events into operations, and outcomes into the words of the scripts. */
class Teller {
  readonly #subject: StoreUnderTest;
  readonly #clock: ManualClock;
  store: Store;
  #epoch = 1n;
  #creditId = 0n;

  constructor(subject: StoreUnderTest, clock: ManualClock) {
    this.#subject = subject;
    this.#clock = clock;
    this.store = subject.store;
  }

  async tell(event: string): Promise<string> {
    const [outcome] = await this.tellTogether([event]);
    return outcome!;
  }

  async tellTogether(events: readonly string[]): Promise<string[]> {
    if (!isMoney(events[0]!)) return [await this.#happen(events[0]!)];
    const outcomes = await this.store.apply(events.map((event) => this.#operation(event)));
    return outcomes.map(wordsOf);
  }

  async amounts(): Promise<number[]> {
    const account = await this.store.findAccount(1n);
    const window = await this.store.keyWindow(7n);
    return [
      account!.balanceNanousd,
      account!.heldNanousd,
      account!.spentNanousd,
      window!.heldNanousd,
      window!.spentNanousd,
    ].map(Number);
  }

  #operation(event: string): LedgerOperation {
    const [verb, first, second, ...rest] = event.split(/\s+/);
    if (verb === 'credit') return aCredit(++this.#creditId, BigInt(first!), { reference: second! });
    if (verb === 'refund')
      return aCredit(++this.#creditId, BigInt(second!), { callId: BigInt(first!), reference: rest[0]! });
    if (verb === 'settle') return aSettle(BigInt(first!), BigInt(second!));
    if (verb === 'void') return { kind: 'void', id: BigInt(first!), reason: 'told to' };
    const ceiling = rest[0] === '<' ? BigInt(rest[1]!) : null;
    const owner = OWNERS[rest[0]!] ?? { keyId: 7n };
    return aHold(BigInt(first!), BigInt(second!), { epoch: this.#epoch, ...owner, ceilingNanousd: ceiling });
  }

  async #happen(event: string): Promise<string> {
    const [verb, first, second] = event.split(/\s+/);
    if (verb === 'hours') this.#clock.setNowMs(this.#clock.nowMs() + Number(first) * HOUR_MS);
    else if (verb === 'revoke') await this.store.updateKey(7n, { revokedMs: this.#clock.nowMs() });
    else if (verb === 'cap')
      await this.store.updateKey(7n, { capNanousd: BigInt(first!), capWindow: second as CapWindow });
    else if (verb === 'member') await this.#putMember(BigInt(first!), second as CapWindow);
    else if (verb === 'disable') await this.store.directory.disablePerson(5n, this.#clock.nowMs(), audit('disable'));
    else if (verb === 'suspend') return this.store.directory.setAccountStatus(1n, 'suspended', audit(verb));
    else if (verb === 'resume') return this.store.directory.setAccountStatus(1n, 'active', audit(verb));
    else if (verb === 'close') return this.#close();
    else if (verb === 'restart') return this.#restart();
    else throw new Error(`No such event: ${event}`);
    return '';
  }

  async #close(): Promise<string> {
    const payout = { id: 1_000n, reference: 'closing', note: 'paid out', createdMs: NOON_MS };
    const outcome = await this.store.directory.closeAccount(1n, payout, audit('close'));
    return [outcome.kind, ...Object.values(outcome).filter((value) => typeof value === 'bigint')].join(' ');
  }

  /** The first time, the person and their key are created. */
  async #putMember(capNanousd: bigint, capWindow: CapWindow): Promise<void> {
    const { directory } = this.store;
    await directory.createPerson(aPerson(5n), audit('person.create'));
    const member = { accountId: 1n, personId: 5n, role: 'member' } as const;
    await directory.putMembership({ ...member, capNanousd, capWindow }, audit('member.put'));
    if ((await this.store.findKey(8n)) === null) await this.store.createKey(aKey(8n, 1n, { personId: 5n }));
  }

  async #restart(): Promise<string> {
    this.store = await this.#subject.reopen();
    const { epoch, voidedHolds } = await this.store.beginInstance();
    this.#epoch = epoch;
    return `voided ${voidedHolds}`;
  }
}

function wordsOf(outcome: LedgerOutcome): string {
  const word = 'reason' in outcome ? outcome.reason : outcome.kind;
  const amounts = Object.values(outcome).filter((value) => typeof value === 'bigint');
  return [word, ...amounts].join(' ');
}
