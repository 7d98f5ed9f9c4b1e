import { ACCOUNT_KIND, ACCOUNT_STATUS, CALL_STATE, CAP_WINDOW, IDEMPOTENCY_STATE } from '../codes.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import {
  type Cap,
  idempotencyName,
  type LedgerRows,
  memberName,
  nameOfPersonWindow,
  nameOfWindow,
  type Spend,
} from '../rules/rows.ts';
import type { LedgerOperation } from '../store.ts';
import { BatchJobs, TouchedJobs } from './batch-jobs.ts';
import type { Loaded, Numbered } from './dictionary.ts';
import type { OpenHold, OpenHoldLookup } from './open-hold.ts';
import type { Answer, Statement } from './pipeline.ts';
import type { NumberedLists } from './price-lists.ts';
import { type Facts, isAnyMissing, OLDER, RENUMBERED, type Registration } from './registration.ts';
import { numbers, texts } from './values.ts';
import { idsOf, keyWindowRead, personWindowRead } from './window-reads.ts';

/**
 * The rows that a batch touches, as far as the operations or this process's open holds say. The account of any other
 * call is read from its row.
 */
export class Touched {
  readonly epochs = new Set<bigint>();
  readonly accounts = new Set<bigint>();
  readonly keys = new Set<bigint>();
  /** People whose keys are used, each with the account. */
  readonly members = new Map<string, { readonly accountId: bigint; readonly personId: bigint }>();
  /** Calls that end in this batch: `own` are this process's open holds, `ended` have to be read. */
  readonly own = new Map<bigint, OpenHold>();
  readonly ended = new Set<bigint>();
  /** Calls that credits of this batch refund; they are read too. */
  readonly refunded = new Set<bigint>();
  readonly jobs = new TouchedJobs();
  readonly marks: { readonly accountId: bigint; readonly key: string }[] = [];
  readonly credits: { readonly id: bigint; readonly accountId: bigint; readonly reference: string }[] = [];

  constructor(operations: readonly LedgerOperation[], openHolds: OpenHoldLookup) {
    for (const operation of operations) this.#add(operation, openHolds);
  }

  #add(operation: LedgerOperation, openHolds: OpenHoldLookup): void {
    this.jobs.add(operation);
    if (operation.kind === 'settle' || operation.kind === 'void') {
      // A job's call is read, so that its row and the job's are of the same moment.
      const isOfJob = operation.kind === 'settle' && operation.job !== undefined;
      const hold = isOfJob ? null : openHolds.find(operation.id);
      if (hold === null) this.ended.add(operation.id);
      else {
        this.own.set(operation.id, hold);
        this.accounts.add(hold.accountId);
      }
      return;
    }
    this.accounts.add(operation.accountId);
    if (operation.kind === 'credit') {
      this.credits.push(operation);
      if (operation.callId != null) this.refunded.add(operation.callId);
      return;
    }
    if (operation.kind === 'release') return;
    if (operation.kind === 'hold') this.epochs.add(operation.epoch);
    if (operation.keyId !== null) this.keys.add(operation.keyId);
    const { accountId, personId = null } = operation;
    if (personId !== null) this.members.set(memberName(accountId, personId), { accountId, personId });
    if (operation.idempotency !== null) this.marks.push({ accountId, key: operation.idempotency.key });
  }
}

type Account = LedgerRows['accounts'] extends ReadonlyMap<bigint, infer Value> ? Value : never;
type Key = LedgerRows['keys'] extends ReadonlyMap<bigint, infer Value> ? Value : never;
type Call = LedgerRows['calls'] extends Map<bigint, infer Value> ? Value : never;
type Credit = LedgerRows['credits'] extends Map<bigint, infer Value> ? Value : never;

/** The rows of one batch, locked and read in the same order by all processes. */
export class BatchRows implements LedgerRows {
  readonly #touched: Touched;
  readonly #loaded: Loaded;
  readonly #registration: Registration | null;
  readonly epochs = new Set<bigint>();
  readonly accounts = new Map<bigint, Account>();
  readonly keys = new Map<bigint, Key>();
  readonly members = new Map<string, Cap>();
  readonly windows = new Map<string, Spend>();
  readonly personWindows = new Map<string, Spend>();
  readonly calls = new Map<bigint, Call>();
  readonly credits = new Map<bigint, Credit>();
  readonly refunds = new Map<bigint, bigint>();
  readonly idempotencyKeys = new Map<string, IdempotencyRow>();
  readonly prices: NumberedLists;
  readonly ofJobs: BatchJobs;
  /** The ledger's numbers, by name. */
  facts: Facts = new Map();
  /** Why the database must be in an older state than this process knows; null if nothing shows it. */
  whyOlder: string | null = null;
  closedUpTo = 0n;
  todayMs = 0;

  constructor(touched: Touched, loaded: Loaded, registration: Registration | null) {
    this.#touched = touched;
    this.#loaded = loaded;
    this.#registration = registration;
    this.prices = loaded.prices;
    this.ofJobs = new BatchJobs(touched.jobs);
    for (const [id, hold] of touched.own) this.calls.set(id, ownCall(id, hold));
  }

  /**
   * Instances first, then accounts by id. The lock on an account also protects its keys, windows, calls, credits and
   * idempotency keys, which are read after it and so are current.
   */
  reads(windowsAtMs: number): Read[] {
    const { epochs, accounts, keys, members, ended, refunded, marks, credits } = this.#touched;
    const reads: Read[] = [];
    const read = (text: string, values: readonly unknown[], load: Read['load']) =>
      reads.push({ statement: { text, values }, load });
    if (epochs.size > 0) read(LOCK_INSTANCES, [numbers([...epochs])], (rows) => this.#loadInstances(rows));
    if (ended.size === 0) read(LOCK_ACCOUNTS, [numbers([...accounts])], (rows) => this.#loadAccounts(rows));
    else read(LOCK_ALL_ACCOUNTS, [numbers([...accounts]), numbers([...ended])], (rows) => this.#loadAccounts(rows));
    read(READ_META, [], (rows) => this.#loadMeta(rows));
    for (const [text, pairs] of [
      [READ_NAMES, this.#loaded.names] as const,
      [READ_PRICES, this.#loaded.priceLists] as const,
    ]) {
      if (pairs.length > 0) read(text, [numbers(pairs.map(([id]) => id))], (rows) => this.#prove(pairs, rows));
    }
    if (keys.size > 0) read(READ_KEYS, [numbers([...keys])], (rows) => this.#loadKeys(rows));
    if (members.size > 0) read(READ_MEMBERS, idsOf(members).map(numbers), (rows) => this.#loadMembers(rows));
    reads.push(...this.windowReads(windowsAtMs));
    const calls = [...new Set([...ended, ...refunded])];
    if (calls.length > 0) read(READ_CALLS, [numbers(calls)], (rows) => this.#loadCalls(rows));
    if (refunded.size > 0) read(READ_REFUNDS, [numbers([...refunded])], (rows) => this.#loadRefunds(rows));
    if (marks.length > 0) {
      const [owners, names] = [marks.map((mark) => mark.accountId), marks.map((mark) => mark.key)];
      read(READ_MARKS, [numbers(owners), texts(names)], (rows) => this.#loadMarks(rows));
    }
    if (credits.length > 0) {
      const [ids, owners] = [credits.map((credit) => credit.id), credits.map((credit) => credit.accountId)];
      const references = texts(credits.map((credit) => credit.reference));
      read(READ_CREDITS, [numbers(ids), numbers(owners), references], (rows) => this.#loadCredits(rows));
    }
    reads.push(...this.ofJobs.reads());
    if (this.#touched.jobs.startsAny && this.#registration !== null) reads.push(this.#commitsRead(this.#registration));
    return reads;
  }

  get jobs(): LedgerRows['jobs'] {
    return this.ofJobs.jobs;
  }

  get jobGroups(): LedgerRows['jobGroups'] {
    return this.ofJobs.jobGroups;
  }

  get jobTotals(): LedgerRows['jobTotals'] {
    return this.ofJobs.jobTotals;
  }

  get jobEvents(): LedgerRows['jobEvents'] {
    return this.ofJobs.jobEvents;
  }

  jobOfCall(callId: bigint): ReturnType<LedgerRows['jobOfCall']> {
    return this.ofJobs.jobOfCall(callId);
  }

  /** The windows in which the calls of this batch count at that time, and those of the calls that it ends. */
  windowReads(atMs: number): Read[] {
    const ofKeys = keyWindowRead(this.#touched, atMs);
    const ofPeople = personWindowRead(this.#touched, atMs);
    const reads: Read[] = [];
    if (ofKeys !== null) reads.push({ statement: ofKeys, load: (rows) => this.#loadWindows(rows) });
    if (ofPeople !== null) reads.push({ statement: ofPeople, load: (rows) => this.#loadPersonWindows(rows) });
    return reads;
  }

  /** An instance with our epoch and another token is of another process. */
  #loadInstances(rows: Rows<[epoch: bigint, token: bigint]>): void {
    const own = this.#registration;
    for (const [epoch, token] of rows) {
      this.epochs.add(epoch);
      if (epoch === own?.epoch && token !== own.token) this.whyOlder = OLDER;
    }
  }

  /** A job that waits in an older state may have run since, also over another connection than the one of this batch. */
  #commitsRead(registration: Registration): Read {
    const confirmed = registration.confirmed();
    const load = (rows: Rows<[line: bigint, commits: bigint]>) => {
      if (isAnyMissing(confirmed, new Map(rows))) this.whyOlder ??= OLDER;
    };
    return { statement: registration.readCommits(), load };
  }

  /** Every name and price list must be in the database under the number that would be written. */
  #prove(pairs: readonly Numbered[], rows: Rows<[id: bigint, text: string]>): void {
    const stored = new Map(rows);
    if (pairs.some(([id, text]) => stored.get(id) !== text)) this.whyOlder ??= RENUMBERED;
  }

  #loadAccounts(rows: Rows<[bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint]>): void {
    for (const [
      id,
      kind,
      balanceNanousd,
      heldNanousd,
      reservedNanousd,
      spentNanousd,
      hour,
      lostNanousd,
      state,
    ] of rows) {
      const loss = { lossHour: Number(hour), lostNanousd };
      const money = { balanceNanousd, heldNanousd, reservedNanousd, spentNanousd, ...loss };
      this.accounts.set(id, { id, kind: ACCOUNT_KIND.word(kind), status: ACCOUNT_STATUS.word(state), ...money });
    }
  }

  #loadMeta(rows: Rows<[name: string, value: bigint]>): void {
    this.facts = new Map(rows);
    this.todayMs = Number(this.facts.get('today_ms') ?? 0n);
    this.closedUpTo = this.facts.get('closed_up_to') ?? 0n;
  }

  #loadMembers(rows: Rows<[accountId: bigint, personId: bigint, cap: bigint | null, window: bigint]>): void {
    for (const [accountId, personId, capNanousd, window] of rows) {
      this.members.set(memberName(accountId, personId), { capNanousd, capWindow: CAP_WINDOW.word(window) });
    }
  }

  #loadKeys(rows: Rows<KeyCells>): void {
    for (const [id, accountId, personId, capNanousd, window, expires, revoked, disabled, personDisabled] of rows) {
      this.keys.set(id, {
        id,
        accountId,
        personId,
        capNanousd,
        capWindow: CAP_WINDOW.word(window),
        expiresMs: msOf(expires),
        revokedMs: msOf(revoked),
        disabledMs: msOf(disabled),
        personDisabledMs: msOf(personDisabled),
      });
    }
  }

  #loadWindows(rows: Rows<[keyId: bigint, id: bigint, spent: bigint, held: bigint, reserved: bigint]>): void {
    this.windows.clear();
    for (const [keyId, id, spentNanousd, heldNanousd, reservedNanousd] of rows) {
      this.windows.set(nameOfWindow(keyId, id), { spentNanousd, heldNanousd, reservedNanousd });
    }
  }

  #loadPersonWindows(rows: Rows<[accountId: bigint, personId: bigint, id: bigint, bigint, bigint, bigint]>): void {
    this.personWindows.clear();
    for (const [accountId, personId, id, spentNanousd, heldNanousd, reservedNanousd] of rows) {
      const spend = { spentNanousd, heldNanousd, reservedNanousd };
      this.personWindows.set(nameOfPersonWindow(accountId, personId, id), spend);
    }
  }

  #loadCalls(rows: Rows<CallCells>): void {
    for (const [id, state, accountId, keyId, windowId, personId, personWindowId, held, cost, idempotencyKey] of rows) {
      const money = { heldNanousd: held, costNanousd: cost, idempotencyKey };
      this.calls.set(id, {
        receipt: { id, accountId, state: CALL_STATE.word(state), ...money },
        windowName: keyId === null || windowId === null ? null : nameOfWindow(keyId, windowId),
        personWindowName:
          personId === null || personWindowId === null ? null : nameOfPersonWindow(accountId, personId, personWindowId),
      });
    }
  }

  #loadMarks(rows: Rows<[bigint, string, bigint, Uint8Array, bigint, bigint, Uint8Array | null]>): void {
    for (const [accountId, key, callId, bodySha256, state, createdMs, kept] of rows) {
      const word = IDEMPOTENCY_STATE.word(state);
      const row = { callId, bodySha256, state: word, kept, createdMs: Number(createdMs) };
      this.idempotencyKeys.set(idempotencyName(accountId, key), row);
    }
  }

  #loadCredits(rows: Rows<[bigint, bigint, string, amount: bigint, callId: bigint | null]>): void {
    for (const [id, accountId, reference, amountNanousd, callId] of rows) {
      this.credits.set(id, { accountId, reference, amountNanousd, callId });
    }
  }

  #loadRefunds(rows: Rows<[callId: bigint, refunded: bigint]>): void {
    for (const [callId, refunded] of rows) this.refunds.set(callId, refunded);
  }
}

/** A query, and what to do with its rows. */
interface Read {
  readonly statement: Statement;
  load(rows: Answer['rows']): void;
}

type Id = bigint | null;
type Time = bigint | null;
type KeyCells = [bigint, accountId: bigint, personId: Id, cap: bigint | null, window: bigint, Time, Time, Time, Time];
type CallCells = [bigint, bigint, accountId: bigint, Id, Id, Id, Id, held: bigint, cost: bigint, key: string | null];
type Rows<Columns extends readonly unknown[]> = readonly (readonly [...Columns])[];

/** The call as it was when this process took the hold. If it has ended since, the write finds no open row and fails. */
function ownCall(id: bigint, hold: OpenHold): Call {
  const { accountId, heldNanousd, idempotencyKey, windowName, personWindowName } = hold;
  const receipt = { id, accountId, state: 'open', heldNanousd, costNanousd: 0n, idempotencyKey } as const;
  return { receipt: { ...receipt }, windowName, personWindowName };
}

function msOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}

/**
 * Declaring an instance dead locks the whole row and so waits for its batches; heartbeats do not conflict with this
 * lock.
 */
const LOCK_INSTANCES =
  'SELECT epoch, token FROM instance WHERE epoch = ANY($1::int8[]) AND state = 1 ORDER BY epoch FOR KEY SHARE';

const LOCK_ACCOUNTS = `
  SELECT account_id, kind, balance, held, reserved, spent, loss_hour, lost, status FROM balance WHERE account_id = ANY($1::int8[])
  ORDER BY account_id FOR NO KEY UPDATE`;

const LOCK_ALL_ACCOUNTS = `
  SELECT account_id, kind, balance, held, reserved, spent, loss_hour, lost, status FROM balance
  WHERE account_id IN (SELECT unnest($1::int8[]) UNION SELECT account_id FROM call WHERE id = ANY($2::int8[]))
  ORDER BY account_id FOR NO KEY UPDATE`;

const READ_META = 'SELECT name, value FROM meta';

/** Statements of their own: joined to the others, or with the texts compared here, they cost the server twice as much. */
const READ_NAMES = 'SELECT id, text FROM name WHERE id = ANY($1::int4[])';
const READ_PRICES = 'SELECT id, version FROM price_list WHERE id = ANY($1::int4[])';

const READ_KEYS = `
  SELECT id, account_id, person_id, cap, cap_window, expires_ms, revoked_ms, disabled_ms, person_disabled_ms FROM api_key
  WHERE id = ANY($1::int8[])`;

const READ_MEMBERS = `
  SELECT account_id, person_id, cap, cap_window FROM membership
  WHERE (account_id, person_id) IN (SELECT * FROM unnest($1::int8[], $2::int8[]))`;

const READ_CALLS = `
  SELECT id, state, account_id, key_id, window_id, person_id, person_window_id, held, cost, idempotency_key FROM call
  WHERE id = ANY($1::int8[])`;

const READ_REFUNDS = 'SELECT call_id, sum(amount) FROM credit WHERE call_id = ANY($1::int8[]) GROUP BY call_id';

const READ_MARKS = `
  SELECT account_id, key, call_id, body_sha256, state, created_ms, kept FROM idempotency_key
  WHERE (account_id, key) IN (SELECT * FROM unnest($1::int8[], $2::text[]))`;

const READ_CREDITS = `
  SELECT id, account_id, reference, amount, call_id FROM credit WHERE id = ANY($1::int8[])
  UNION
  SELECT id, account_id, reference, amount, call_id FROM credit
  WHERE (account_id, reference) IN (SELECT * FROM unnest($2::int8[], $3::text[]))`;
