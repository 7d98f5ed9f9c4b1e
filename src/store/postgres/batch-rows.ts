import { ACCOUNT_KIND, CALL_STATE, CAP_WINDOW, IDEMPOTENCY_STATE, windowId, windowOfId } from '../codes.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import { idempotencyName, type LedgerRows, windowNameOf } from '../rules/rows.ts';
import { CAP_WINDOWS, type CapWindow, type LedgerOperation } from '../store.ts';
import { startOfDayMs } from '../windows.ts';
import type { Loaded } from './dictionary.ts';
import type { OpenHold, OpenHoldLookup } from './open-hold.ts';
import type { Answer, Statement } from './pipeline.ts';
import type { NumberedLists } from './price-lists.ts';
import { type Facts, OLDER, RENUMBERED, type Registration } from './registration.ts';
import { numbers, texts } from './values.ts';

/**
 * The rows that a batch touches, as far as the operations or this process's open holds say. The account of any other
 * call is read from its row.
 */
export class Touched {
  readonly epochs = new Set<bigint>();
  readonly accounts = new Set<bigint>();
  readonly keys = new Set<bigint>();
  /** Calls that end in this batch: `own` are this process's open holds, `ended` have to be read. */
  readonly own = new Map<bigint, OpenHold>();
  readonly ended = new Set<bigint>();
  /** Calls that credits of this batch refund; they are read too. */
  readonly refunded = new Set<bigint>();
  readonly marks: { readonly accountId: bigint; readonly key: string }[] = [];
  readonly credits: { readonly id: bigint; readonly accountId: bigint; readonly reference: string }[] = [];

  constructor(operations: readonly LedgerOperation[], openHolds: OpenHoldLookup) {
    for (const operation of operations) this.#add(operation, openHolds);
  }

  #add(operation: LedgerOperation, openHolds: OpenHoldLookup): void {
    if (operation.kind === 'settle' || operation.kind === 'void') {
      const hold = openHolds.find(operation.id);
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
    this.epochs.add(operation.epoch);
    if (operation.keyId !== null) this.keys.add(operation.keyId);
    if (operation.idempotency !== null)
      this.marks.push({ accountId: operation.accountId, key: operation.idempotency.key });
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
  readonly #registration: Pick<Registration, 'epoch' | 'token'> | null;
  readonly epochs = new Set<bigint>();
  readonly accounts = new Map<bigint, Account>();
  readonly keys = new Map<bigint, Key>();
  readonly windows = new Map<string, { spentNanousd: bigint; heldNanousd: bigint }>();
  readonly calls = new Map<bigint, Call>();
  readonly credits = new Map<bigint, Credit>();
  readonly refunds = new Map<bigint, bigint>();
  readonly idempotencyKeys = new Map<string, IdempotencyRow>();
  readonly prices: NumberedLists;
  /** The ledger's numbers, by name. */
  facts: Facts = new Map();
  /** Why the database must be in an older state than this process knows; null if nothing shows it. */
  whyOlder: string | null = null;
  closedUpTo = 0n;
  todayMs = 0;

  constructor(touched: Touched, loaded: Loaded, registration: Pick<Registration, 'epoch' | 'token'> | null) {
    this.#touched = touched;
    this.#loaded = loaded;
    this.#registration = registration;
    this.prices = loaded.prices;
    for (const [id, hold] of touched.own) this.calls.set(id, ownCall(id, hold));
  }

  /**
   * Instances first, then accounts by id. The lock on an account also protects its keys, windows, calls, credits and
   * idempotency keys, which are read after it and so are current.
   */
  reads(windowsAtMs: number): Read[] {
    const { epochs, accounts, keys, own, ended, refunded, marks, credits } = this.#touched;
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
      if (pairs.size > 0) read(text, [numbers([...pairs.keys()])], (rows) => this.#prove(pairs, rows));
    }
    if (keys.size > 0) read(READ_KEYS, [numbers([...keys])], (rows) => this.#loadKeys(rows));
    if (keys.size > 0 || own.size > 0 || ended.size > 0) reads.push(this.windowRead(windowsAtMs));
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
    return reads;
  }

  /** Reads the windows of these keys at that time, and the windows of these calls. */
  windowRead(atMs: number): Read {
    const { keys, own, ended } = this.#touched;
    const counted = [...own.values()].filter(({ windowName }) => windowName !== null);
    const windows = counted.map(({ windowName }) => windowIdOf(windowName!));
    const values: string[] = [];
    const place = (value: string) => `$${values.push(value)}::int8[]`;
    const wanted: string[] = [];
    if (keys.size > 0) {
      const current = place(numbers(currentWindows(atMs)));
      wanted.push(`SELECT id, (${current})[cap_window + 1] FROM api_key WHERE id = ANY(${place(numbers([...keys]))})`);
    }
    if (own.size > 0) {
      const [keyIds, ids] = [windows.map(({ keyId }) => keyId), windows.map(({ id }) => id)];
      wanted.push(`SELECT * FROM unnest(${place(numbers(keyIds))}, ${place(numbers(ids))})`);
    }
    if (ended.size > 0) {
      const read = `SELECT key_id, window_id FROM call WHERE id = ANY(${place(numbers([...ended]))})`;
      wanted.push(`${read} AND key_id IS NOT NULL`);
    }
    const text = `${READ_WINDOWS} WHERE (key_id, window_id) IN (${wanted.join(' UNION ')})`;
    return { statement: { text, values }, load: (rows) => this.#loadWindows(rows) };
  }

  /** An instance with our epoch and another token is of another process. */
  #loadInstances(rows: Rows<[epoch: bigint, token: bigint]>): void {
    const own = this.#registration;
    for (const [epoch, token] of rows) {
      this.epochs.add(epoch);
      if (epoch === own?.epoch && token !== own.token) this.whyOlder = OLDER;
    }
  }

  /** Every name and price list must be in the database under the number that would be written. */
  #prove(pairs: ReadonlyMap<bigint, string>, rows: Rows<[id: bigint, text: string]>): void {
    const isSame = rows.length === pairs.size && rows.every(([id, text]) => pairs.get(id) === text);
    if (!isSame) this.whyOlder ??= RENUMBERED;
  }

  #loadAccounts(rows: Rows<[bigint, bigint, bigint, bigint, bigint, bigint, bigint]>): void {
    for (const [id, kind, balanceNanousd, heldNanousd, spentNanousd, hour, lostNanousd] of rows) {
      const loss = { lossHour: Number(hour), lostNanousd };
      this.accounts.set(id, { id, kind: ACCOUNT_KIND.word(kind), balanceNanousd, heldNanousd, spentNanousd, ...loss });
    }
  }

  #loadMeta(rows: Rows<[name: string, value: bigint]>): void {
    this.facts = new Map(rows);
    this.todayMs = Number(this.facts.get('today_ms') ?? 0n);
    this.closedUpTo = this.facts.get('closed_up_to') ?? 0n;
  }

  #loadKeys(rows: Rows<[bigint, bigint, bigint | null, bigint, Time, Time, Time, Time]>): void {
    for (const [id, accountId, capNanousd, window, expires, revoked, disabled, personDisabled] of rows) {
      this.keys.set(id, {
        id,
        accountId,
        capNanousd,
        capWindow: CAP_WINDOW.word(window),
        expiresMs: msOf(expires),
        revokedMs: msOf(revoked),
        disabledMs: msOf(disabled),
        personDisabledMs: msOf(personDisabled),
      });
    }
  }

  #loadWindows(rows: Rows<[keyId: bigint, id: bigint, spent: bigint, held: bigint]>): void {
    this.windows.clear();
    for (const [keyId, id, spentNanousd, heldNanousd] of rows) {
      this.windows.set(nameOfWindow(keyId, id), { spentNanousd, heldNanousd });
    }
  }

  #loadCalls(rows: Rows<[bigint, bigint, bigint, bigint | null, bigint | null, bigint, bigint, string | null]>): void {
    for (const [id, state, accountId, keyId, windowId, heldNanousd, costNanousd, idempotencyKey] of rows) {
      const receipt = { id, accountId, state: CALL_STATE.word(state), heldNanousd, costNanousd, idempotencyKey };
      const windowName = keyId === null || windowId === null ? null : nameOfWindow(keyId, windowId);
      this.calls.set(id, { receipt, windowName });
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
export interface Read {
  readonly statement: Statement;
  load(rows: Answer['rows']): void;
}

type Time = bigint | null;
type Rows<Columns extends readonly unknown[]> = readonly (readonly [...Columns])[];

/** The call as it was when this process took the hold. If it has ended since, the write finds no open row and fails. */
function ownCall(id: bigint, { accountId, heldNanousd, idempotencyKey, windowName }: OpenHold): Call {
  return { receipt: { id, accountId, state: 'open', heldNanousd, costNanousd: 0n, idempotencyKey }, windowName };
}

function msOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}

function nameOfWindow(keyId: bigint, id: bigint): string {
  const { window, startMs } = windowOfId(id);
  return windowNameOf(keyId, window, startMs);
}

/** By the code of the cap window. */
function currentWindows(atMs: number): bigint[] {
  const ids: bigint[] = [];
  for (const window of CAP_WINDOWS) ids[Number(CAP_WINDOW.of[window])] = windowId(window, atMs);
  return ids;
}

/** Whether both times have the same windows. */
export function sameWindows(oneMs: number, otherMs: number): boolean {
  return startOfDayMs(oneMs) === startOfDayMs(otherMs);
}

/** The window's key and number, from its name. */
export function windowIdOf(name: string): { readonly keyId: bigint; readonly id: bigint } {
  const [keyId, window, startMs] = name.split(' ') as [string, CapWindow, string];
  return { keyId: BigInt(keyId), id: windowId(window, Number(startMs)) };
}

/**
 * Declaring an instance dead locks the whole row and so waits for its batches; heartbeats do not conflict with this
 * lock.
 */
const LOCK_INSTANCES =
  'SELECT epoch, token FROM instance WHERE epoch = ANY($1::int8[]) AND state = 1 ORDER BY epoch FOR KEY SHARE';

const LOCK_ACCOUNTS = `
  SELECT account_id, kind, balance, held, spent, loss_hour, lost FROM balance WHERE account_id = ANY($1::int8[])
  ORDER BY account_id FOR NO KEY UPDATE`;

const LOCK_ALL_ACCOUNTS = `
  SELECT account_id, kind, balance, held, spent, loss_hour, lost FROM balance
  WHERE account_id IN (SELECT unnest($1::int8[]) UNION SELECT account_id FROM call WHERE id = ANY($2::int8[]))
  ORDER BY account_id FOR NO KEY UPDATE`;

const READ_META = 'SELECT name, value FROM meta';

/** Statements of their own: joined to the others, or with the texts compared here, they cost the server twice as much. */
const READ_NAMES = 'SELECT id, text FROM name WHERE id = ANY($1::int4[])';
const READ_PRICES = 'SELECT id, version FROM price_list WHERE id = ANY($1::int4[])';

const READ_KEYS = `
  SELECT id, account_id, cap, cap_window, expires_ms, revoked_ms, disabled_ms, person_disabled_ms FROM api_key
  WHERE id = ANY($1::int8[])`;

const READ_WINDOWS = 'SELECT key_id, window_id, spent, held FROM key_window';

const READ_CALLS = `
  SELECT id, state, account_id, key_id, window_id, held, cost, idempotency_key FROM call WHERE id = ANY($1::int8[])`;

const READ_REFUNDS = 'SELECT call_id, sum(amount) FROM credit WHERE call_id = ANY($1::int8[]) GROUP BY call_id';

const READ_MARKS = `
  SELECT account_id, key, call_id, body_sha256, state, created_ms, kept FROM idempotency_key
  WHERE (account_id, key) IN (SELECT * FROM unnest($1::int8[], $2::text[]))`;

const READ_CREDITS = `
  SELECT id, account_id, reference, amount, call_id FROM credit WHERE id = ANY($1::int8[])
  UNION
  SELECT id, account_id, reference, amount, call_id FROM credit
  WHERE (account_id, reference) IN (SELECT * FROM unnest($2::int8[], $3::text[]))`;
