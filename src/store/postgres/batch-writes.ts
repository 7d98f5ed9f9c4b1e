import { CALL_FIELDS, SETTLEMENT_FIELDS } from '../../canonical/receipt.ts';
import { CALL_STATE, ENDED, IDEMPOTENCY_STATE, USAGE_SOURCE } from '../codes.ts';
import { freesKey, isAnswered, keptKeyMs } from '../idempotency.ts';
import type { ReleaseOperation, ReserveOperation } from '../jobs.ts';
import type { LossHour } from '../loss-allowance.ts';
import { insertAudit } from '../programs/audit.ts';
import type {
  CreditOperation,
  HoldOperation,
  IdempotencyState,
  LedgerOperation,
  LedgerOutcome,
  SettleOperation,
  VoidOperation,
} from '../store.ts';
import type { BatchRows } from './batch-rows.ts';
import { type ColumnArray, columnArrays } from './column-arrays.ts';
import type { NameId } from './dictionary.ts';
import { statementOf } from './directory.ts';
import type { Statement } from './pipeline.ts';
import { bytes, numbers, storable, texts } from './values.ts';
import { personWindowIdOf, windowIdOf } from './window-reads.ts';

/** Amounts as they were read, to find the rows that have to be written. */
type Before = ReadonlyMap<unknown, readonly bigint[]>;

/** The change of an idempotency key in this batch; a key that a hold took is written whole. */
interface MarkChange {
  readonly accountId: bigint;
  readonly key: string;
  readonly callId: bigint;
  readonly taken: { readonly bodySha256: Uint8Array; readonly createdMs: number } | null;
  /** Null frees the key. */
  readonly end: { readonly state: IdempotencyState; readonly kept: Uint8Array | null } | null;
}

/** Turns the outcomes of a batch into statements that write each changed row once. */
export class BatchWrites {
  readonly #rows: BatchRows;
  readonly #nameId: NameId;
  readonly #nowMs: number;
  readonly #balances: Before;
  readonly #windows: Before;
  readonly #personWindows: Before;
  readonly #losses: Before;
  readonly holds: HoldOperation[] = [];
  readonly settles: SettleOperation[] = [];
  readonly voids: VoidOperation[] = [];
  readonly credits: CreditOperation[] = [];
  readonly reserves: ReserveOperation[] = [];
  readonly releases: ReleaseOperation[] = [];
  readonly #marks = new Map<string, MarkChange>();

  /** Create it before the operations change the rows. */
  constructor(rows: BatchRows, nameId: NameId, nowMs: number) {
    this.#rows = rows;
    this.#nameId = nameId;
    this.#nowMs = nowMs;
    this.#balances = new Map([...rows.accounts].map(([id, row]) => [id, amounts(row)]));
    this.#windows = new Map([...rows.windows].map(([name, row]) => [name, spending(row)]));
    this.#personWindows = new Map([...rows.personWindows].map(([name, row]) => [name, spending(row)]));
    this.#losses = new Map([...rows.accounts].map(([id, row]) => [id, losses(row)]));
  }

  note(operation: LedgerOperation, { kind }: LedgerOutcome): void {
    if (operation.kind === 'hold' && kind === 'held') this.#noteHold(operation);
    else if (operation.kind === 'settle' && kind === 'settled') this.#noteSettle(operation);
    else if (operation.kind === 'void' && kind === 'voided') this.#noteVoid(operation);
    else if (operation.kind === 'credit' && kind === 'credited') this.credits.push(operation);
    else if (operation.kind === 'reserve' && kind === 'reserved') this.#noteReserve(operation);
    else if (operation.kind === 'release' && kind === 'released') this.releases.push(operation);
  }

  #noteReserve(reserve: ReserveOperation): void {
    this.reserves.push(reserve);
    const { id, accountId, idempotency, keepKeyUntilMs } = reserve;
    if (idempotency === null) return;
    const taken = { bodySha256: idempotency.bodySha256, createdMs: keptKeyMs(this.#nowMs, keepKeyUntilMs) };
    this.#changeMark({ accountId, key: idempotency.key, callId: id, taken, end: { state: 'finished', kept: null } });
  }

  #noteHold(hold: HoldOperation): void {
    this.holds.push(hold);
    if (hold.idempotency === null) return;
    const { key, bodySha256 } = hold.idempotency;
    const end = { state: 'running', kept: null } as const;
    this.#changeMark({
      accountId: hold.accountId,
      key,
      callId: hold.id,
      taken: { bodySha256, createdMs: this.#nowMs },
      end,
    });
  }

  #noteSettle(settle: SettleOperation): void {
    this.settles.push(settle);
    const { settlement, kept } = settle;
    const isFree = freesKey(settlement.costNanousd, isAnswered(settlement), kept);
    this.#endMark(settle.id, isFree ? null : { state: 'finished', kept });
  }

  #noteVoid(operation: VoidOperation): void {
    this.voids.push(operation);
    this.#endMark(operation.id, { state: 'unknown', kept: null });
  }

  #endMark(callId: bigint, end: MarkChange['end']): void {
    const { accountId, idempotencyKey: key } = this.#rows.calls.get(callId)!.receipt;
    if (key !== null) this.#changeMark({ accountId, key, callId, taken: null, end });
  }

  #changeMark(change: MarkChange): void {
    const name = `${change.accountId} ${change.key}`;
    const before = this.#marks.get(name);
    const taken = change.taken ?? (before?.callId === change.callId ? before.taken : null);
    this.#marks.set(name, { ...change, taken });
  }

  /** In an order that lets a call be held and settled in the same batch. Empty if nothing changed. */
  statements(todayMs: number | null): Statement[] {
    return [
      this.#insertCalls(),
      this.#settleCalls(),
      this.#voidCalls(),
      this.#insertCredits(),
      ...this.credits.map(({ audit }) => (audit === undefined ? null : statementOf(insertAudit(audit)))),
      ...this.#writeMarks(),
      ...this.#rows.ofJobs.statements(),
      this.#writeBalances(),
      this.#writeLosses(),
      ...this.#writeWindows(),
      ...this.#writePersonWindows(),
      todayMs === null ? null : { text: SET_TODAY, values: [todayMs] },
    ].filter((statement) => statement !== null);
  }

  #insertCalls(): Statement | null {
    const { holds } = this;
    if (holds.length === 0) return null;
    const calls = holds.map(({ id }) => this.#rows.calls.get(id)!);
    const values = [
      numbers(holds.map(({ epoch }) => epoch)),
      numbers(calls.map(({ windowName: name }) => (name === null ? null : windowIdOf(name).id))),
      numbers(calls.map(({ personWindowName: name }) => (name === null ? null : personWindowIdOf(name).id))),
      numbers(holds.map(({ amountNanousd }) => amountNanousd)),
      numbers(holds.map(({ priceId }) => this.#rows.prices.get(priceId)!.id)),
      texts(holds.map(({ idempotency }) => idempotency?.key ?? null)),
      ...CALL_COLUMNS.map((column) => column.array(holds, this.#nameId)),
    ];
    return { text: INSERT_CALLS, values };
  }

  #settleCalls(): Statement | null {
    const { settles } = this;
    if (settles.length === 0) return null;
    const settlements = settles.map(({ settlement }) => settlement);
    const values = [
      settles.length,
      numbers(settles.map(({ id }) => id)),
      numbers(settles.map(({ endedMs }) => endedMs)),
      ...SETTLEMENT_COLUMNS.map((column) => column.array(settlements, this.#nameId)),
    ];
    return { text: SETTLE_CALLS, values };
  }

  #voidCalls(): Statement | null {
    const { voids } = this;
    if (voids.length === 0) return null;
    const reasons = texts(voids.map(({ reason }) => storable(reason)));
    return { text: VOID_CALLS, values: [numbers(voids.map(({ id }) => id)), reasons, this.#nowMs, voids.length] };
  }

  #insertCredits(): Statement | null {
    const { credits } = this;
    if (credits.length === 0) return null;
    const values = [
      numbers(credits.map(({ id }) => id)),
      numbers(credits.map(({ accountId }) => accountId)),
      texts(credits.map(({ reference }) => reference)),
      numbers(credits.map(({ amountNanousd }) => amountNanousd)),
      texts(credits.map(({ note }) => (note === null ? null : storable(note)))),
      numbers(credits.map(({ createdMs }) => createdMs)),
      numbers(credits.map(({ callId }) => callId ?? null)),
    ];
    return { text: INSERT_CREDITS, values };
  }

  #writeMarks(): (Statement | null)[] {
    const changes = [...this.#marks.values()];
    const put = changes.filter(({ taken, end }) => taken !== null && end !== null);
    const ended = changes.filter(({ taken, end }) => taken === null && end !== null);
    const freed = changes.filter(({ end }) => end === null);
    const names = (some: readonly MarkChange[]) => [
      numbers(some.map(({ accountId }) => accountId)),
      texts(some.map(({ key }) => key)),
    ];
    const whole = (some: readonly MarkChange[]) => [
      ...names(some),
      numbers(some.map(({ callId }) => callId)),
      numbers(some.map(({ end }) => IDEMPOTENCY_STATE.of[end!.state])),
      bytes(some.map(({ end }) => end!.kept)),
    ];
    const hashes = bytes(put.map(({ taken }) => taken!.bodySha256));
    const times = numbers(put.map(({ taken }) => taken!.createdMs));
    return [
      put.length === 0 ? null : { text: PUT_MARKS, values: [...whole(put), hashes, times] },
      ended.length === 0 ? null : { text: END_MARKS, values: whole(ended) },
      freed.length === 0 ? null : { text: FREE_MARKS, values: names(freed) },
    ];
  }

  #writeBalances(): Statement | null {
    const changed = [...this.#rows.accounts].filter(([id, row]) => differ(this.#balances.get(id), amounts(row)));
    if (changed.length === 0) return null;
    const isPlain = changed.every(([id, row]) => this.#balances.get(id)?.[3] === row.reservedNanousd);
    const columns = transpose(changed.map(([id, row]) => [id, ...amounts(row).slice(0, isPlain ? 3 : 4)]));
    return { text: isPlain ? WRITE_BALANCES : WRITE_RESERVED, values: [...columns, changed.length] };
  }

  /** Apart from the balances, because few batches have any. */
  #writeLosses(): Statement | null {
    const changed = [...this.#rows.accounts].filter(([id, row]) => differ(this.#losses.get(id), losses(row)));
    if (changed.length === 0) return null;
    const columns = transpose(changed.map(([id, row]) => [id, ...losses(row)]));
    return { text: WRITE_LOSSES, values: [...columns, changed.length] };
  }

  #writeWindows(): (Statement | null)[] {
    const { begun, known, isPlain } = changes(this.#windows, this.#rows.windows, (name) => {
      const { keyId, id } = windowIdOf(name);
      return [keyId, id];
    });
    const [begin, write] = isPlain ? KEY_WINDOWS.plain : KEY_WINDOWS.reserved;
    return [
      begun.length === 0 ? null : { text: begin, values: transpose(begun) },
      known.length === 0 ? null : { text: write, values: transpose(known) },
    ];
  }

  #writePersonWindows(): (Statement | null)[] {
    const { begun, known, isPlain } = changes(this.#personWindows, this.#rows.personWindows, (name) => {
      const { accountId, personId, id } = personWindowIdOf(name);
      return [accountId, personId, id];
    });
    const [begin, write] = isPlain ? PERSON_WINDOWS.plain : PERSON_WINDOWS.reserved;
    return [
      begun.length === 0 ? null : { text: begin, values: transpose(begun) },
      known.length === 0 ? null : { text: write, values: transpose(known) },
    ];
  }
}

/**
 * Windows that have no row yet, and those whose row changes, each with the cells to write. What is reserved is among them
 * only if it changes in one of them.
 */
function changes(
  before: Before,
  windows: ReadonlyMap<string, Spending>,
  keyOf: (name: string) => readonly bigint[],
): { begun: bigint[][]; known: bigint[][]; isPlain: boolean } {
  const [begun, known]: [bigint[][], bigint[][]] = [[], []];
  const isPlain = [...windows].every(([name, row]) => (before.get(name)?.[2] ?? 0n) === row.reservedNanousd);
  for (const [name, row] of windows) {
    const old = before.get(name);
    const now = spending(row);
    if (!differ(old, now)) continue;
    (old === undefined ? begun : known).push([...keyOf(name), ...(isPlain ? now.slice(0, 2) : now)]);
  }
  return { begun, known, isPlain };
}

type Amounts = { readonly balanceNanousd: bigint } & Spending;
type Spending = { readonly heldNanousd: bigint; readonly spentNanousd: bigint; readonly reservedNanousd: bigint };

/** What is reserved comes last, because few batches change it. */
function amounts({ balanceNanousd, heldNanousd, spentNanousd, reservedNanousd }: Amounts): bigint[] {
  return [balanceNanousd, heldNanousd, spentNanousd, reservedNanousd];
}

function losses({ lossHour, lostNanousd }: LossHour): bigint[] {
  return [BigInt(lossHour), lostNanousd];
}

function spending({ heldNanousd, spentNanousd, reservedNanousd }: Spending): bigint[] {
  return [heldNanousd, spentNanousd, reservedNanousd];
}

function differ(before: readonly bigint[] | undefined, now: readonly bigint[]): boolean {
  return before === undefined || now.some((amount, at) => amount !== before[at]);
}

function transpose(rows: readonly (readonly bigint[])[]): string[] {
  return rows[0]!.map((_, at) => numbers(rows.map((row) => row[at]!)));
}

const { open, settled, voided } = CALL_STATE.of;

/** Written so that the index of open calls is not used: it also contains calls that ended since the last vacuum. */
const IS_OPEN = `call.state + 0 = ${open}`;

/** Fails, and with it the commit, unless the change affected exactly the expected rows. */
const guarded = (change: string, expected: string) =>
  `WITH changed AS (${change} RETURNING 1) SELECT 1 / (count(*) = ${expected}::int8)::int FROM changed`;

const CALL_COLUMNS = columnArrays(CALL_FIELDS);
const SETTLEMENT_COLUMNS = columnArrays(SETTLEMENT_FIELDS);

const columnList = (columns: readonly ColumnArray[]) => columns.map(({ column }) => column).join(', ');

/** `$5::int8[], $6::text[]` and so on. */
const places = (columns: readonly ColumnArray[], first: number) =>
  columns.map(({ type }, at) => `$${first + at}::${type}[]`).join(', ');

const INSERT_CALLS = `
  INSERT INTO call (epoch, window_id, person_window_id, held, price_id, idempotency_key, ${columnList(CALL_COLUMNS)}, state)
  SELECT *, ${open} FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::text[],
    ${places(CALL_COLUMNS, 7)})`;

const SETTLE_CALLS = guarded(
  `UPDATE call SET state = ${settled}, ended_ms = s.ended_ms,
    ${SETTLEMENT_COLUMNS.map(({ column }) => `${column} = s.${column}`).join(', ')}
  FROM unnest($2::int8[], $3::int8[], ${places(SETTLEMENT_COLUMNS, 4)})
    AS s (id, ended_ms, ${columnList(SETTLEMENT_COLUMNS)})
  WHERE call.id = s.id AND ${IS_OPEN}`,
  '$1',
);

const VOID_CALLS = guarded(
  `UPDATE call SET state = ${voided}, ended_ms = $3::int8, ended = ${ENDED.of.died}, usage_source = ${USAGE_SOURCE.of.none},
    attempts = 0, loss = held, loss_reason = v.reason
  FROM unnest($1::int8[], $2::text[]) AS v (id, reason) WHERE call.id = v.id AND ${IS_OPEN}`,
  '$4',
);

const INSERT_CREDITS = `
  INSERT INTO credit (id, account_id, reference, amount, note, created_ms, call_id)
  SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::int8[], $5::text[], $6::int8[], $7::int8[])`;

const PUT_MARKS = `
  INSERT INTO idempotency_key (account_id, key, call_id, state, kept, body_sha256, created_ms)
  SELECT * FROM unnest($1::int8[], $2::text[], $3::int8[], $4::int2[], $5::bytea[], $6::bytea[], $7::int8[])
  ON CONFLICT (account_id, key) DO UPDATE SET call_id = excluded.call_id, state = excluded.state, kept = excluded.kept,
    body_sha256 = excluded.body_sha256, created_ms = excluded.created_ms`;

const END_MARKS = `
  UPDATE idempotency_key AS mark SET state = e.state, kept = e.kept
  FROM unnest($1::int8[], $2::text[], $3::int8[], $4::int2[], $5::bytea[]) AS e (account_id, key, call_id, state, kept)
  WHERE mark.account_id = e.account_id AND mark.key = e.key AND mark.call_id = e.call_id`;

const FREE_MARKS =
  'DELETE FROM idempotency_key WHERE (account_id, key) IN (SELECT * FROM unnest($1::int8[], $2::text[]))';

const WRITE_BALANCES = guarded(
  `UPDATE balance SET balance = b.balance, held = b.held, spent = b.spent
  FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) AS b (id, balance, held, spent) WHERE account_id = b.id`,
  '$5',
);

/** In one statement: the row is checked after each, and what is held may grow by what is no longer reserved. */
const WRITE_RESERVED = guarded(
  `UPDATE balance SET balance = b.balance, held = b.held, spent = b.spent, reserved = b.reserved
  FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[]) AS b (id, balance, held, spent, reserved)
  WHERE account_id = b.id`,
  '$6',
);

const WRITE_LOSSES = guarded(
  `UPDATE balance SET loss_hour = l.hour, lost = l.lost
  FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS l (id, hour, lost) WHERE account_id = l.id`,
  '$4',
);

/** Fails if the row exists: a row that was not read must never be overwritten. */
function beginWindows(table: string, key: readonly string[], amounts: readonly string[]): string {
  const columns = [...key, ...amounts];
  const arrays = columns.map((column, at) => `$${at + 1}::${column === 'window_id' ? 'int4' : 'int8'}[]`);
  const order = key.map((_, at) => at + 1);
  return `INSERT INTO ${table} (${columns}) SELECT * FROM unnest(${arrays}) ORDER BY ${order}`;
}

/** The statements that begin and that change windows, without and with what is reserved. */
function windowWrites(table: string, key: readonly string[]) {
  const writes = (amounts: readonly string[]): readonly [begin: string, write: string] => {
    const begin = beginWindows(table, key, amounts);
    const changed = amounts.map((column) => `${column} = excluded.${column}`);
    // An upsert instead of an update, because it locks the rows in their order.
    return [begin, `${begin} ON CONFLICT (${key}) DO UPDATE SET ${changed}`];
  };
  return { plain: writes(['held', 'spent']), reserved: writes(['held', 'spent', 'reserved']) };
}

const KEY_WINDOWS = windowWrites('key_window', ['key_id', 'window_id']);
const PERSON_WINDOWS = windowWrites('person_window', ['account_id', 'person_id', 'window_id']);

const SET_TODAY = "UPDATE meta SET value = $1::int8 WHERE name = 'today_ms' AND value < $1::int8";
