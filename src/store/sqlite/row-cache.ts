import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { CALL_FIELDS } from '../../canonical/receipt.ts';
import type { CacheSize } from '../../kit/caches.ts';
import { IdMap } from '../../kit/id-map.ts';
import { LIMITS } from '../../limits.ts';
import { ACCOUNT_KIND, CAP_WINDOW, windowId } from '../codes.ts';
import { columnNames } from '../field-kinds.ts';
import { CAP_WINDOWS } from '../store.ts';
import { KEY_WINDOW, PERSON_WINDOW } from '../window-tables.ts';
import { startOfDayMs } from '../windows.ts';
import { AccountIndex } from './account-index.ts';
import type { BalanceRow, CallRow, KeyRule, MemberRule, Windows } from './cached-rows.ts';
import { HeldSums } from './held.ts';
import { readMeta, writeMeta } from './meta.ts';
import { ProgressCounter } from './progress.ts';
import { RowWriter } from './row-writer.ts';
import { WindowCache, type WindowRow } from './window-cache.ts';

const BALANCE_COLUMNS = ['account_id', 'kind', 'balance', 'reserved', 'spent', 'loss_hour', 'lost', 'status'];

/** The columns that a hold writes; `Operations` puts its cells in this order. */
const NEW_CALL_COLUMNS = [
  'state',
  'window_id',
  'person_window_id',
  'epoch',
  'held',
  'price_id',
  ...columnNames(CALL_FIELDS),
];

/**
 * The rows that batches of operations work on. They are read once and written once per batch, and stay cached between
 * batches because this connection is the only writer. After a rollback, call `forget`. Held amounts are not stored:
 * they are added up from the open calls once and maintained here.
 */
export class RowCache {
  readonly #database: DatabaseSync;
  readonly #balances = new IdMap<BalanceRow>();
  readonly #keys = new IdMap<KeyRule>();
  readonly #members = new Map<string, MemberRule | null>();
  readonly #windows: WindowCache;
  readonly #personWindows: WindowCache;
  readonly #openCalls = new IdMap<CallRow>();
  readonly #names = new Map<string, number>();
  readonly #prices = new Set<number>();
  readonly #dirtyBalances: BalanceRow[] = [];
  /** Cells of calls that were not written yet. */
  readonly #newCalls: SQLInputValue[] = [];
  readonly #readBalance: StatementSync;
  readonly #writeBalances: RowWriter;
  readonly #readKey: StatementSync;
  readonly #readMember: StatementSync;
  readonly #readCall: StatementSync;
  readonly #insertCalls: RowWriter;
  readonly #readName: StatementSync;
  readonly #addName: StatementSync;
  readonly #readPrice: StatementSync;
  readonly #accountIndex: AccountIndex;
  /** What grows with use, under the name by which its size is reported. */
  readonly #growing: Readonly<Record<string, { readonly size: number }>>;
  /** Held amounts when the first row was read after `forget`; null before that. */
  #heldAtFirst: HeldSums | null = null;
  /** Window ids of the batch's day, by the code of the cap window. */
  #windowIds: readonly bigint[] = [];
  #todayMs = -1;
  #todayChanged = false;
  /** Whether the cache differs from what was last written. */
  #isAhead = false;
  readonly progress: ProgressCounter;
  nowMs = 0n;
  epoch = 0n;
  closedUpTo = 0n;

  constructor(database: DatabaseSync) {
    const prepare = (sql: string) => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#database = database;
    this.progress = new ProgressCounter(database);
    this.#readBalance = prepare(
      'SELECT kind, balance, reserved, spent, loss_hour, lost, status FROM balance WHERE account_id = ?',
    );
    this.#writeBalances = new RowWriter(database, 'REPLACE', 'balance', BALANCE_COLUMNS);
    this.#readKey = prepare(`SELECT account_id, cap, cap_window, expires_ms,
      coalesce(revoked_ms, disabled_ms, person_disabled_ms) AS off_ms, person_id FROM api_key WHERE id = ?`);
    this.#readMember = prepare('SELECT cap, cap_window FROM membership WHERE account_id = ? AND person_id = ?');
    this.#windows = new WindowCache(database, KEY_WINDOW);
    this.#personWindows = new WindowCache(database, PERSON_WINDOW);
    this.#readCall = prepare(`SELECT state, account_id, key_id, window_id, person_id, person_window_id, held, cost,
      idempotency_key FROM call WHERE id = ?`);
    this.#insertCalls = new RowWriter(database, 'INSERT', 'call', NEW_CALL_COLUMNS);
    this.#readName = prepare('SELECT id FROM name WHERE text = ?');
    this.#addName = prepare('INSERT INTO name (text) VALUES (?) RETURNING id');
    this.#readPrice = prepare('SELECT id FROM price_list WHERE id = ?');
    this.#accountIndex = new AccountIndex(database);
    this.#growing = {
      writer_balances: this.#balances,
      writer_keys: this.#keys,
      writer_members: this.#members,
      writer_windows: this.#windows,
      writer_person_windows: this.#personWindows,
      writer_open_calls: this.#openCalls,
      writer_names: this.#names,
      writer_prices: this.#prices,
    };
    this.forget();
  }

  /** Moves the windows to the given day. They never move back to an earlier one. */
  moveWindowsTo(nowMs: number): void {
    const today = startOfDayMs(nowMs);
    if (today <= this.#todayMs) return;
    this.#todayMs = today;
    this.#todayChanged = true;
    this.#setWindowIds();
  }

  /** The time by which windows are chosen. */
  get windowTimeMs(): number {
    return Math.max(this.#todayMs, Number(this.nowMs));
  }

  #setWindowIds(): void {
    const ids: bigint[] = [];
    for (const window of CAP_WINDOWS) ids[Number(CAP_WINDOW.of[window])] = windowId(window, this.#todayMs);
    this.#windowIds = ids;
  }

  balance(accountId: bigint): BalanceRow | null {
    return this.#balances.get(accountId) ?? this.#loadBalance(accountId);
  }

  #loadBalance(accountId: bigint): BalanceRow | null {
    type Row = [bigint, bigint, bigint, bigint, bigint, bigint, bigint];
    const row = this.#readBalance.get(accountId) as unknown as Row | undefined;
    if (row === undefined) return null;
    const [kind, balance, reserved, spent, lossHour, lostNanousd, status] = row;
    const held = this.#heldBefore().ofAccount(accountId);
    const unlimited = kind === ACCOUNT_KIND.of.unlimited;
    const loss = { lossHour: Number(lossHour), lostNanousd };
    const loaded = { accountId, kind, unlimited, status, balance, held, reserved, spent, ...loss, dirty: false };
    this.#balances.set(accountId, loaded);
    return loaded;
  }

  key(id: bigint): KeyRule | null {
    return this.#keys.get(id) ?? this.#loadKey(id);
  }

  #loadKey(id: bigint): KeyRule | null {
    type Row = [bigint, bigint | null, bigint, bigint | null, bigint | null, bigint | null];
    const row = this.#readKey.get(id) as unknown as Row | undefined;
    if (row === undefined) return null;
    const [accountId, cap, capWindow, expiresMs, offMs, personId] = row;
    const member = personId === null ? null : this.#member(accountId, personId);
    const isOff = offMs !== null || (personId !== null && member === null);
    const rule = { id, accountId, cap, capWindow, expiresMs, isOff, member, window: null };
    this.#keys.set(id, rule);
    return rule;
  }

  /** Shared by all keys of the person in the account; null if the person has no role there. */
  #member(accountId: bigint, personId: bigint): MemberRule | null {
    const name = `${accountId}/${personId}`;
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const row = this.#readMember.get(accountId, personId) as unknown as [bigint | null, bigint] | undefined;
    const rule = row === undefined ? null : { accountId, personId, cap: row[0], capWindow: row[1], window: null };
    this.#members.set(name, rule);
    return rule;
  }

  /** One key, or all keys and members. */
  forgetKeys(id: bigint | null): void {
    if (id !== null) this.#keys.delete(id);
    else for (const map of [this.#keys, this.#members]) map.clear();
  }

  currentWindow(key: KeyRule): WindowRow {
    const id = this.#windowIds[Number(key.capWindow)]!;
    if (key.window?.windowId !== id) key.window = this.#windows.find([key.id], id, this.#heldBefore);
    return key.window;
  }

  currentPersonWindow(member: MemberRule): WindowRow {
    const id = this.#windowIds[Number(member.capWindow)]!;
    if (member.window?.windowId !== id) {
      member.window = this.#personWindows.find([member.accountId, member.personId], id, this.#heldBefore);
    }
    return member.window;
  }

  /**
   * The held amounts that a newly read row starts from. Its holds cannot have changed since: that would have cached it.
   */
  readonly #heldBefore = (): HeldSums => {
    this.#heldAtFirst ??= new HeldSums(this.#database);
    return this.#heldAtFirst;
  };

  call(id: bigint): CallRow | null {
    return this.#openCalls.get(id) ?? this.#loadCall(id);
  }

  #loadCall(id: bigint): CallRow | null {
    type Id = bigint | null;
    type Row = [bigint, accountId: bigint, Id, Id, Id, Id, held: bigint, cost: bigint, key: string | null];
    const row = this.#readCall.get(id) as unknown as Row | undefined;
    if (row === undefined) return null;
    const [state, accountId, keyId, windowId, personId, personWindowId, held, cost, idempotencyKey] = row;
    const balance = this.balance(accountId);
    if (balance === null) throw new Error(`Call ${id} has no account.`);
    const { window, personWindow } = this.windowsOf({ accountId, keyId, windowId, personId, personWindowId });
    return { id, state, balance, window, personWindow, held, cost, idempotencyKey };
  }

  /** The windows in which a call or a job counts. */
  windowsOf({ accountId, keyId, windowId, personId, personWindowId }: Counted): Windows {
    const window = keyId === null || windowId === null ? null : this.#windows.find([keyId], windowId, this.#heldBefore);
    const personWindow =
      personId === null || personWindowId === null
        ? null
        : this.#personWindows.find([accountId, personId], personWindowId, this.#heldBefore);
    return { window, personWindow };
  }

  /** Reserves an amount for a job, or frees it if it is negative. */
  reserve(balance: BalanceRow, { window, personWindow }: Windows, amount: bigint): void {
    const reserved = balance.reserved + amount;
    if (reserved < 0n) throw new Error(`Account ${balance.accountId} has nothing reserved.`);
    balance.reserved = reserved;
    this.touchBalance(balance);
    if (window !== null) this.#windows.reserve(window, amount);
    if (personWindow !== null) this.#personWindows.reserve(personWindow, amount);
  }

  /**
   * Adds an open call. Its cells (`NEW_CALL_COLUMNS`) are written together with those of other calls, when a statement
   * needs the row or the batch ends. An open call stays cached, so ending it needs no read. No other row changes,
   * except that the first hold in a window creates the window's row.
   */
  addOpen(call: CallRow, cells: readonly SQLInputValue[]): void {
    this.#isAhead = true;
    this.#newCalls.push(...cells);
    this.#openCalls.set(call.id, call);
    const { balance, window, personWindow, held } = call;
    this.#accountIndex.note(balance.accountId, call.id);
    balance.held += held;
    if (window !== null) this.#windows.hold(window, held);
    if (personWindow !== null) this.#personWindows.hold(personWindow, held);
  }

  /** Call this before a statement that reads or updates a call. */
  writeNewCalls(): void {
    if (this.#newCalls.length === 0) return;
    this.#insertCalls.write(this.#newCalls);
    this.#newCalls.length = 0;
  }

  /** Removes the hold from its account and windows, and charges the cost. */
  endHold(call: CallRow, cost: bigint): void {
    this.#isAhead = true;
    takeBack(call.balance, call);
    if (call.window !== null) takeBack(call.window, call);
    if (call.personWindow !== null) takeBack(call.personWindow, call);
    if (cost !== 0n) this.#charge(call, cost);
    this.#openCalls.delete(call.id);
    this.progress.addReceipt(cost);
  }

  #charge({ balance, window, personWindow }: CallRow, cost: bigint): void {
    balance.balance -= cost;
    balance.spent += cost;
    this.touchBalance(balance);
    if (window !== null) this.#windows.charge(window, cost);
    if (personWindow !== null) this.#personWindows.charge(personWindow, cost);
  }

  touchBalance(row: BalanceRow): void {
    this.#isAhead = true;
    if (row.dirty) return;
    row.dirty = true;
    this.#dirtyBalances.push(row);
  }

  /** The number of a text that many rows share. */
  nameId(text: string): number {
    return this.#names.get(text) ?? this.#loadName(text);
  }

  #loadName(text: string): number {
    this.#isAhead = true;
    const [id] = (this.#readName.get(text) ?? this.#addName.get(text)) as unknown as [bigint];
    this.#names.set(text, Number(id));
    return Number(id);
  }

  hasPrice(id: number): boolean {
    if (!this.#prices.has(id) && this.#readPrice.get(id) !== undefined) this.#prices.add(id);
    return this.#prices.has(id);
  }

  /** Writes all changes; the commit follows. */
  flush(): void {
    this.writeNewCalls();
    this.#accountIndex.flush();
    const balances: SQLInputValue[] = [];
    for (const row of this.#dirtyBalances) {
      balances.push(row.accountId, row.kind, row.balance, row.reserved);
      balances.push(row.spent, row.lossHour, row.lostNanousd, row.status);
      row.dirty = false;
    }
    this.#writeBalances.write(balances);
    this.#windows.flush();
    this.#personWindows.flush();
    this.#dirtyBalances.length = 0;
    if (this.#todayChanged) writeMeta(this.#database, 'today_ms', BigInt(this.#todayMs));
    this.#todayChanged = false;
    this.#isAhead = false;
    this.progress.write();
  }

  /**
   * Compares the cached held amounts with the open calls in the file, and returns one sentence per difference. If there
   * is one, the cache starts again. Call it between batches.
   */
  heldDrift(): string[] {
    const sums = new HeldSums(this.#database);
    const drift: string[] = [];
    for (const { accountId, held } of this.#balances.values()) {
      const computed = sums.ofAccount(accountId);
      if (held !== computed)
        drift.push(`Account ${accountId}: the writer counts ${held} held, the open calls add up to ${computed}.`);
    }
    drift.push(...this.#windows.drift(sums), ...this.#personWindows.drift(sums));
    if (drift.length > 0) this.forget();
    return drift;
  }

  /** Limits the cache's memory; call it between batches. */
  trim(): void {
    if (Object.values(this.#growing).some(({ size }) => size > LIMITS.storeCachedRowsMax)) this.forget();
  }

  sizes(): CacheSize[] {
    const entriesMax = LIMITS.storeCachedRowsMax;
    const rows = Object.entries(this.#growing).map(([cache, { size }]) => ({ cache, entries: size, entriesMax }));
    return [...rows, this.#accountIndex.size()];
  }

  /**
   * Call after rolling back what followed the last write. If the failed operation had changed nothing, the cache stays.
   */
  undo(): void {
    if (this.#isAhead) this.forget();
  }

  callsDeleted(upTo: bigint): void {
    this.#accountIndex.callsDeleted(upTo);
  }

  /** Empties the cache, including changes of a batch that was rolled back. */
  forget(): void {
    this.forgetRows();
    this.#accountIndex.forget();
  }

  /** Empties the cache, after changes to rows by which no call was added or deleted. */
  forgetRows(): void {
    for (const map of [this.#balances, this.#keys, this.#members, this.#openCalls, this.#names]) map.clear();
    this.#windows.forget();
    this.#personWindows.forget();
    this.#prices.clear();
    this.#heldAtFirst = null;
    for (const list of [this.#newCalls, this.#dirtyBalances]) list.length = 0;
    this.#isAhead = false;
    this.#todayMs = Number(readMeta(this.#database, 'today_ms'));
    this.#todayChanged = false;
    this.#setWindowIds();
    this.closedUpTo = readMeta(this.#database, 'closed_up_to');
    const [epoch] = this.#database.prepare('SELECT coalesce(max(epoch), 0) AS epoch FROM instance').all();
    this.epoch = epoch?.epoch as bigint;
    this.progress.reload();
  }
}

/** The account, key and person for which something counts, and which of their windows. */
type Counted = Readonly<Record<'keyId' | 'windowId' | 'personId' | 'personWindowId', bigint | null>> & {
  readonly accountId: bigint;
};

function takeBack(row: { held: bigint }, { id, held }: CallRow): void {
  row.held -= held;
  if (row.held < 0n) throw new Error(`Call ${id} has no hold in the cache.`);
}
