import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { monthName } from '../src/store/month-tree.ts';
import {
  type Cells,
  FIRST_MS,
  forgetTrees,
  literal,
  type MonthSubject,
  makeCalls,
  monthsOf,
  openAccounts,
  openSubject,
} from './month-subject.ts';
import { Random, seedFrom } from './random.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const SEED = seedFrom(process.env, 1);
const DAY_MS = 86_400_000;

describe.each(['sqlite', 'postgres'] as const)('closed receipts on %s', (engine) => {
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
  });
  afterEach(() => subject.dispose());

  const calls = () => subject.sql('SELECT * FROM call ORDER BY id');
  const trees = () => subject.sql('SELECT * FROM month_tree ORDER BY month_ms, account_id, part');
  const violations = async () => (await subject.store.verify()).violations;

  /** Writes the row as it is now in place of the row with that id; null deletes or adds it. */
  const replace = async (id: Cells[string] | null, row: Cells | null): Promise<void> => {
    if (id !== null) await subject.sql(`DELETE FROM call WHERE id = ${literal(id)}`);
    if (row === null) return;
    const cells = Object.values(row).map(literal).join(', ');
    await subject.sql(`INSERT INTO call (${Object.keys(row).join(', ')}) VALUES (${cells})`);
  };

  /** What verifying says while these rows are replaced. */
  const sayOf = async (changes: readonly (readonly [before: Cells | null, after: Cells | null])[]) => {
    for (const [before, after] of changes) await replace(before?.id ?? null, after);
    const said = await violations();
    for (const [before, after] of changes.toReversed()) await replace(after?.id ?? null, before);
    return said;
  };

  const named = (said: readonly string[], row: Cells, months: Map<bigint, string>) =>
    said.filter((one) => one.startsWith(`Account ${row.account_id}, month ${months.get(BigInt(row.id as bigint))}: `));

  it('are verified: any changed field, any missing, added or exchanged receipt is named by account and month', async () => {
    const random = new Random(SEED);
    await makeCalls(subject, random, 60);
    expect(await subject.store.closeBooks(null)).toEqual({ closed: 60, forgotten: 0 });
    const rows = await calls();
    const months = monthsOf(rows);
    expect(new Set(months.values()).size).toBeGreaterThan(3);
    expect(await subject.store.verify()).toMatchObject({ closedReceipts: 60, withoutTree: 0, violations: [] });
    for (const column of Object.keys(rows[0]!)) {
      const row = random.pick(rows.filter((one) => isChangeable(one, column)));
      const said = await sayOf([[row, { ...row, [column]: changed(row, column) }]]);
      expect(named(said, row, months), `${column} of ${row.id}: ${said.join('\n')}`).toHaveLength(1);
    }
    for (let round = 0; round < 5; round++) {
      const [one, other] = [random.pick(rows.slice(0, 30)), random.pick(rows.slice(30))];
      expect(named(await sayOf([[one, null]]), one, months)).toHaveLength(1);
      const added = { ...one, id: BigInt(one.id as bigint) + 1n };
      expect(named(await sayOf([[null, added]]), one, months)).toHaveLength(1);
      if (one.account_id === other.account_id) continue;
      const swapped = [
        [one, { ...one, account_id: other.account_id! }],
        [other, { ...other, account_id: one.account_id! }],
      ] as const;
      const said = await sayOf(swapped);
      for (const row of [one, other]) expect(named(said, row, months), said.join('\n')).toHaveLength(1);
    }
    const moved = { ...rows[3]!, account_id: 4n };
    const said = await sayOf([[rows[3]!, moved]]);
    expect(named(said, moved, months)).toEqual([expect.stringContaining('it has receipts, but was closed with none.')]);
    expect(await violations()).toEqual([]);
  });

  it('are verified together with the names and price lists that they refer to', async () => {
    await makeCalls(subject, new Random(SEED), 10);
    await subject.store.closeBooks(null);
    for (const [table, column, other] of [
      ['name', 'text', 'another model'],
      ['price_list', 'version', 'another list'],
    ] as const) {
      const [row] = await subject.sql(`SELECT id, ${column} AS text FROM ${table} ORDER BY id LIMIT 1`);
      const set = (text: Cells[string]) =>
        subject.sql(`UPDATE ${table} SET ${column} = ${literal(text)} WHERE id = ${literal(row!.id!)}`);
      await set(other);
      expect((await violations()).join('\n')).toMatch(/Account \d, month 2026-0\d: its receipts have changed/);
      await set(row!.text!);
      await subject.reopen();
      expect(await violations()).toEqual([]);
    }
  });

  it('have sums and trees that are verified themselves', async () => {
    await makeCalls(subject, new Random(SEED), 30, 50);
    await subject.store.closeBooks(FIRST_MS + 5 * DAY_MS);
    const stored = (await trees()).find(({ part }) => String(part) === '1')!;
    const where = `WHERE month_ms = ${stored.month_ms} AND account_id = ${stored.account_id} AND part = 1`;
    const name = `Account ${stored.account_id}, month 2026-01`;
    const bytes = (hex: string) => (engine === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'::bytea`);
    for (const [column, wrong, finding] of [
      ['calls', 'calls + 1', 'it was closed with'],
      ['spent', 'spent + 1', 'spent is'],
      ['held', 'held + 1', 'held is'],
      ['loss', 'loss + 1', 'loss is'],
      ['form', '2', 'it was closed with form 2'],
      ['root', bytes('00'.repeat(32)), 'its receipts have changed'],
      ['peaks', bytes('00'.repeat(32)), 'its stored hash tree is damaged'],
    ] as const) {
      const cell = stored[column]!;
      const right = cell instanceof Uint8Array ? bytes(Buffer.from(cell).toString('hex')) : String(cell);
      await subject.sql(`UPDATE month_tree SET ${column} = ${wrong} ${where}`);
      expect((await violations()).join('\n')).toContain(`${name}: ${finding}`);
      await subject.sql(`UPDATE month_tree SET ${column} = ${right} ${where}`);
    }
    await subject.sql('DELETE FROM closed_month WHERE month_ms = (SELECT min(month_ms) FROM closed_month)');
    expect((await violations()).join('\n')).toContain('Month 2026-01: its range of ids is missing.');
  });

  it('have hashes of each 128 that are verified, too', async () => {
    await makeCalls(subject, new Random(SEED), 385, 2);
    await subject.store.closeBooks(null);
    const [chunk] = await subject.sql('SELECT * FROM tree_chunk ORDER BY account_id, number LIMIT 1');
    expect(await violations()).toEqual([]);
    const month = monthName(Number(chunk!.month_ms));
    const said = [
      `Account ${chunk!.account_id}, month ${month}: the stored hash of its receipts 1 to 128 is wrong, so its receipts cannot be signed.`,
    ];
    const where = `WHERE account_id = ${chunk!.account_id} AND number = ${chunk!.number} AND month_ms = ${chunk!.month_ms}`;
    await subject.sql(`UPDATE tree_chunk SET up_to = up_to + 1 ${where}`);
    expect(await violations()).toEqual(said);
    const wrong = engine === 'sqlite' ? `x'${'00'.repeat(32)}'` : `'\\x${'00'.repeat(32)}'::bytea`;
    await subject.sql(`UPDATE tree_chunk SET up_to = up_to - 1, hash = ${wrong} ${where}`);
    expect(await violations()).toEqual(said);
  });

  it('of a month stay as they were when a call with a late id or a wrong time is closed after them', async () => {
    await makeCalls(subject, new Random(SEED), 20, 25);
    await subject.store.closeBooks(null);
    const before = await trees();
    const lastId = BigInt((await calls()).at(-1)!.id as bigint);
    const february = Date.UTC(2026, 1, 20);
    subject.clock.setNowMs(february);
    const late = [Date.UTC(2026, 0, 25), february, Date.UTC(2026, 0, 31)];
    for (const [at, createdMs] of late.entries()) {
      const id = lastId + BigInt(at + 1);
      await subject.store.apply([aHold(id, 5n, { createdMs }), aSettle(id, 5n)]);
    }
    subject.clock.advance(2 * LIMITS.closingAgeMs);
    expect(await subject.store.closeBooks(null)).toMatchObject({ closed: 3 });
    const isJanuary = ({ month_ms }: Cells) => Number(month_ms) === Date.UTC(2026, 0, 1);
    expect((await trees()).filter(isJanuary)).toEqual(before.filter(isJanuary));
    expect(monthsOf(await calls()).get(lastId + 3n)).toBe('2026-02');
    expect(await subject.store.verify()).toMatchObject({ closedMonths: 2, closedReceipts: 23, violations: [] });
  });

  it('are closed in parts with the same result as at once', async () => {
    const random = new Random(SEED);
    for (let part = 0; part < 8; part++) {
      await makeCalls(subject, random, 5, 12);
      await subject.store.closeBooks(null);
      expect(await violations()).toEqual([]);
    }
    const inParts = await trees();
    await forgetTrees(subject);
    await subject.store.closeBooks(null);
    expect(await trees()).toEqual(inParts);
  });

  it('of an earlier version get their trees at the next closing, and its sums stay for those that were deleted', async () => {
    await makeCalls(subject, new Random(SEED), 40);
    await subject.store.closeBooks(null);
    const before = await trees();
    await forgetTrees(subject);
    expect(await subject.store.verify()).toMatchObject({
      closedReceipts: 0,
      withoutTree: 40,
      notKept: 0,
      violations: [],
    });
    expect(await subject.store.closeBooks(null)).toEqual({ closed: 0, forgotten: 0 });
    expect(await trees()).toEqual(before);
    expect(await subject.sql('SELECT * FROM closing')).toEqual([]);
    await forgetTrees(subject);
    const oldest = (await calls()).slice(0, 7).map(({ id }) => id);
    await subject.sql(`DELETE FROM call WHERE id IN (${oldest.join(', ')})`);
    await subject.store.closeBooks(null);
    expect(await subject.store.verify()).toMatchObject({
      receipts: 40,
      closedReceipts: 33,
      notKept: 7,
      withoutTree: 0,
      violations: [],
    });
  });

  it('may be deleted from the oldest on: those that are left are verified, also in the same month', async () => {
    const random = new Random(SEED);
    await makeCalls(subject, random, 40);
    await subject.store.closeBooks(null);
    const rows = await calls();
    const months = monthsOf(rows);
    const closed = (await trees()).filter(({ part }) => String(part) === '1');
    const beforeMs = Number(rows[25]!.created_ms);
    const { forgotten } = await subject.store.closeBooks(beforeMs);
    expect(forgotten).toBeGreaterThan(15);
    const left = await calls();
    expect(months.get(BigInt(left[0]!.id as bigint))).toBe(months.get(BigInt(rows[forgotten - 1]!.id as bigint)));
    expect((await trees()).filter(({ part }) => String(part) === '1')).toEqual(closed);
    const kept = { receipts: 40, closedReceipts: 40 - forgotten, notKept: forgotten };
    expect(await subject.store.verify()).toMatchObject({ ...kept, violations: [] });
    for (const row of left) {
      expect(named(await sayOf([[row, { ...row, held: 999n }]]), row, months)).toHaveLength(1);
      expect(named(await sayOf([[row, null]]), row, months)).toHaveLength(1);
    }
    expect(named(await sayOf([[null, rows[0]!]]), rows[0]!, months)).toHaveLength(1);
    await subject.store.closeBooks(subject.clock.nowMs());
    expect(await subject.store.verify()).toMatchObject({ closedReceipts: 0, notKept: 40, violations: [] });
  });

  it('that were changed are still noticed when they have been deleted because of their age', async () => {
    await makeCalls(subject, new Random(SEED), 10, 1);
    await subject.store.closeBooks(null);
    const [row] = await calls();
    await replace(row!.id!, { ...row!, http_status: 201n });
    await subject.store.closeBooks(subject.clock.nowMs());
    expect(await violations()).toEqual([
      expect.stringContaining(`Account ${row!.account_id}, month 2026-01: its receipts have changed`),
    ]);
  });

  it('are verified from a given month on, and the report says which', async () => {
    await makeCalls(subject, new Random(SEED), 30);
    await subject.store.closeBooks(null);
    const [first] = await calls();
    await replace(first!.id!, { ...first!, http_status: 201n });
    expect(await violations()).toHaveLength(1);
    const sinceMonthMs = Date.UTC(2026, 2, 1);
    const seen: number[] = [];
    const report = await subject.store.verify(({ rowsTotal }) => seen.push(rowsTotal), sinceMonthMs);
    const later = [...monthsOf(await calls()).values()].filter((month) => month >= '2026-03').length;
    expect(report).toMatchObject({ closedReceipts: later, sinceMonthMs, violations: [] });
    // They are read for the trees and for the usage sums.
    expect(new Set(seen)).toEqual(new Set([2 * later]));
  });
});

/** Codes, references and flags change to another one that exists. */
const OTHERS: Readonly<Record<string, (cell: bigint) => bigint>> = {
  state: (code) => 5n - code,
  ended: (code) => (code === 1n ? 2n : 1n),
  usage_source: (code) => (code === 1n ? 2n : 1n),
  stream: (flag) => 1n - flag,
  price_id: (id) => 3n - id,
  account_id: (id) => (id % 3n) + 1n,
};

/** Constraints allow no more: the cost must stay below the hold, and a reference must find its text. */
function isChangeable(row: Cells, column: string): boolean {
  if (column === 'cost') return BigInt(row.cost as bigint) > 1n;
  if (column === 'held') return BigInt(row.held as bigint) > BigInt(row.cost as bigint);
  return !NAMES.includes(column) || (row.route !== null && row.requested_model !== row.effective_model);
}

const NAMES = ['route', 'requested_model', 'effective_model', 'host'];
const TEXTS = ['labels', 'chain', 'loss_reason', 'tries', 'idempotency_key'];

function changed(row: Cells, column: string): bigint | string {
  const cell = row[column]!;
  if (TEXTS.includes(column)) return cell === null ? '' : `${cell}!`;
  if (NAMES.includes(column)) return BigInt((column === 'effective_model' ? row.route : row.effective_model) as bigint);
  if (cell === null) return 0n;
  const number = BigInt(cell as bigint);
  if (column === 'cost' || column === 'held') return number - 1n;
  return OTHERS[column]?.(number) ?? number + 1n;
}
