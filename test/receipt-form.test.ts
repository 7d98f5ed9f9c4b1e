import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { MonthReader as PostgresMonths } from '../src/store/postgres/months.ts';
import { FORM, FORM_CALL_COLUMNS } from '../src/store/receipt-form.ts';
import { openToRead } from '../src/store/sqlite/database.ts';
import { MonthReader as SqliteMonths } from '../src/store/sqlite/months.ts';
import { FIRST_MS, type MonthSubject, openAccounts, openSubject } from './month-subject.ts';
import { aHold, aSettle } from './store-fixtures.ts';

/**
 * The canonical form of receipts, pinned: the hashes of closed months depend on every byte of it. If this fails, do not
 * change the fixture. Receipts that were closed would no longer verify. Keep this form and add another version.
 */
interface Vector {
  readonly name: string;
  readonly lines: readonly string[];
  readonly sha256: string;
}
const { form, receipts }: { readonly form: number; readonly receipts: readonly Vector[] } = JSON.parse(
  readFileSync(new URL('../fixtures/receipts/form-1.json', import.meta.url), 'utf8'),
);

/** A receipt with every field, one that was voided, and one with as few fields as possible. */
async function makeReceipts({ store, clock }: MonthSubject): Promise<void> {
  const idempotency = { key: 'retry-1', bodySha256: new Uint8Array(32) };
  const call = {
    accountId: 2n,
    keyId: 2n,
    stream: true,
    priceId: 2,
    createdMs: FIRST_MS,
    chain: 'task-7;2',
    idempotency,
  };
  const labels = { team: 'a\\b', user: 'zoë\n"quoted"' };
  const usage = {
    freshTokens: 100,
    cacheReadTokens: 20,
    cacheWriteTokens: 3,
    cacheWrite1hTokens: 4,
    outputTokens: 50,
    reasoningTokens: 6,
  };
  const components = { freshNanousd: 400n, cacheWriteNanousd: 30n, cacheReadNanousd: 2n, outputNanousd: 500n };
  const settled = {
    usage,
    components,
    attempts: 2,
    tries: [{ host: 'host-b', outcome: '503', ms: 12 }],
    lossNanousd: 7n,
    lossReason: 'a host\nbilled more',
    hangupCharged: true,
    adjusted: 'seed=dropped,max_tokens=16384',
  };
  await store.apply([
    aHold(6_900_000_000_000_000_001n, 1_000n, { ...call, labels, requestedModel: 'vendor\\model\nof two lines' }),
    aHold(6_900_000_000_000_000_002n, 500n, { createdMs: FIRST_MS + 1 }),
    aHold(6_900_000_000_000_000_003n, 1n, { createdMs: FIRST_MS + 2 }),
  ]);
  clock.advance(1_000);
  await store.apply([
    { ...aSettle(6_900_000_000_000_000_001n, 932n, settled), endedMs: FIRST_MS + 900 },
    { kind: 'void', id: 6_900_000_000_000_000_002n, reason: 'The process died.' },
    {
      ...aSettle(6_900_000_000_000_000_003n, 0n, { ended: 'failed', httpStatus: 502, host: null }),
      endedMs: FIRST_MS + 3,
    },
  ]);
}

describe.each(['sqlite', 'postgres'] as const)('the canonical form of receipts on %s', (engine) => {
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
  });
  afterEach(() => subject.dispose());

  const texts = async (): Promise<string[]> => {
    if (engine === 'sqlite') {
      const database = openToRead(subject.place);
      const months = new SqliteMonths(database);
      const found = months.rows(0n, 2n ** 63n - 1n, 10).map((row) => months.form.textOf(row));
      database.close();
      return found;
    }
    const connections = new Connections(subject.place, systemClock, 1);
    const months = new PostgresMonths();
    const rows = await connections.transaction((sql) => months.rows(sql, 0n, 2n ** 63n - 1n, 10));
    await connections.close();
    return rows.map((row) => months.form.textOf(row));
  };

  it('is the one in the fixture, and so are the hashes', async () => {
    await makeReceipts(subject);
    const found = await texts();
    expect(form).toBe(FORM);
    expect(found.map((text) => text.split('\n'))).toEqual(receipts.map(({ lines }) => lines));
    const hashes = found.map((text) => hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(text)]), 'hex'));
    expect(hashes).toEqual(receipts.map(({ sha256 }) => sha256));
  });

  it('contains every column of a call', async () => {
    const columns = await subject.sql(
      engine === 'sqlite'
        ? "SELECT name FROM pragma_table_info('call')"
        : "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'call'::regclass AND attnum > 0 AND NOT attisdropped",
    );
    expect(columns.map(({ name }) => name).toSorted()).toEqual(FORM_CALL_COLUMNS.toSorted());
  });
});
