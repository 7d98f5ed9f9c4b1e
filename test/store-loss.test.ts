import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli/run.ts';
import { systemClock as clock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { compose } from '../src/main/compose.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { expectSame } from './expect-same.ts';
import { CALLS, COST, flip, LossFolder } from './loss-folder.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';
import { until } from './until.ts';

/** A data folder whose files were damaged, deleted or replaced: no confirmed receipt disappears unnoticed. */

const SLOT_BYTES = 4096;
const data = new LossFolder();

test('a ledger whose process was killed opens without a word', async () => {
  await data.killedAfter();
  await data.expectLedger(CALLS, []);
  await data.expectLedger(CALLS, []);
  expect(data.notices).toEqual([]);
});

describe('a write-ahead log', () => {
  const FRACTIONS = [0, 0.2, 0.5, 0.8, 0.97];

  test.each(FRACTIONS)(
    'with one flipped byte at %d of its length is noticed, and left as it was found',
    async (part) => {
      await data.killedAfter();
      flip(data.log, 40 + Math.floor((statSync(data.log).size - 4200) * part));
      const before = readFileSync(data.log);
      const { message, loss } = await data.refusal();
      expect(loss.receipts).toBeGreaterThan(0n);
      expect(loss.spentNanousd).toBe(loss.receipts * COST);
      expect(message).toContain(`${loss.receipts} receipt`);
      expect(message).toContain('tollgate store restore FILE');
      expect(message).toContain(`tollgate store accept-loss --receipts ${loss.receipts}`);
      expect(message).not.toContain('\n');
      expectSame(readFileSync(data.log), before);
    },
  );

  test.each([
    ['deleted', () => rmSync(data.log)],
    ['cut in half', () => truncateSync(data.log, statSync(data.log).size / 2)],
    ['emptied', () => truncateSync(data.log, 0)],
    ['replaced by noise', () => writeFileSync(data.log, Buffer.alloc(100_000, 7))],
  ])('that was %s is noticed', async (_, damage) => {
    await data.killedAfter();
    damage();
    expect((await data.refusal()).loss.receipts).toBeGreaterThan(0n);
  });

  test('that grew by bytes nobody committed does no harm', async () => {
    await data.killedAfter();
    appendFileSync(data.log, Buffer.alloc(5000, 9));
    await data.expectLedger(CALLS, []);
  });

  test('stays below its limit under load, with readers all the while', async () => {
    const store = await data.open();
    await prepare(store);
    await store.apply([aCredit(1n, 1_000_000_000n)]);
    const kept = Buffer.alloc(LIMITS.idempotencyAnswerBytesMax, 'x');
    const bodySha256 = Buffer.alloc(32);
    let largest = 0;
    const calls = 1.5 * (LIMITS.storeLogBytesMax / kept.length);
    for (let id = 1n; id <= calls; id++) {
      await store.apply([aHold(id, 2n * COST, { idempotency: { key: `k${id}`, bodySha256 } })]);
      await store.apply([aSettle(id, COST, {}, kept)]);
      await store.findReceipt(id, 1n);
      largest = Math.max(largest, statSync(data.log).size);
    }
    expect(largest).toBeGreaterThan(kept.length);
    expect(largest).toBeLessThan(LIMITS.storeLogBytesMax);
  });

  test('has been moved into the database soon after the last commit of a running server', async () => {
    const store = await data.open(data.folder, true);
    await prepare(store);
    const copy = join(data.home, 'copy.sqlite');
    // A promise, which `until` awaits with pauses: each look copies the database.
    const hasAccounts = async (): Promise<boolean> => {
      copyFileSync(data.database, copy);
      const database = new DatabaseSync(copy);
      const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'account'").get();
      const row = found && database.prepare('SELECT 1 FROM account').get();
      database.close();
      return row !== undefined;
    };
    await until(hasAccounts, 'the database has the account without its log');
  });
});

describe('a database', () => {
  test('of an earlier day is noticed', async () => {
    await data.killedAfter(3);
    const early = await data.open();
    await early.close();
    copyFileSync(data.database, join(data.home, 'early.sqlite'));
    const store = await data.open();
    await store.beginInstance();
    for (let id = 11n; id <= 15n; id++) {
      await store.apply([aHold(id, 2n * COST, { epoch: 2n })]);
      await store.apply([aSettle(id, COST)]);
    }
    await store.close();
    copyFileSync(join(data.home, 'early.sqlite'), data.database);
    expect((await data.refusal()).loss).toEqual({ receipts: 5n, spentNanousd: 5n * COST });
  });

  test('of another ledger is noticed', async () => {
    await data.killedAfter();
    await (await data.open(join(data.home, 'other'))).close();
    copyFileSync(join(data.home, 'other', 'tollgate.sqlite'), data.database);
    rmSync(data.log);
    expect((await data.refusal()).loss.receipts).toBe(BigInt(CALLS));
  });

  test('that was deleted is not replaced by an empty one, unless the loss is accepted', async () => {
    await data.killedAfter();
    for (const name of readdirSync(data.folder))
      if (name.startsWith('tollgate.sqlite')) rmSync(join(data.folder, name));
    expect((await data.refusal()).loss.receipts).toBe(BigInt(CALLS));
    expect(existsSync(data.database)).toBe(false);
    expect(await data.accept(BigInt(CALLS))).toMatchObject({ receipts: CALLS, kept_in: null });
    await data.expectLedger(0, [BigInt(CALLS)]);
  });
});

describe('the mark', () => {
  test('that was deleted is reported missing once, and a new one is created', async () => {
    await data.killedAfter();
    rmSync(data.mark);
    await data.expectLedger(CALLS, []);
    expect(data.notices).toEqual([
      expect.stringMatching(/^There is no file tollgate.mark in .*a new one is created\.$/),
    ]);
    await data.expectLedger(CALLS, []);
    expect(data.notices).toHaveLength(1);
  });

  test('may be behind the database, as a kill between a commit and its mark leaves it', async () => {
    await data.killedAfter(3);
    const older = readFileSync(data.mark);
    rmSync(data.folder, { recursive: true });
    const store = await data.open(data.running);
    await store.apply([aHold(50n, COST)]);
    await store.apply([aSettle(50n, COST)]);
    cpSync(data.running, data.folder, { recursive: true });
    writeFileSync(data.mark, older);
    await data.expectLedger(4, []);
    expect(data.notices).toEqual([]);
  });

  test('with one damaged slot still data.notices a lost log by the other', async () => {
    await data.killedAfter();
    cpSync(data.folder, join(data.home, 'again'), { recursive: true });
    for (const slot of [0, 1]) {
      rmSync(data.folder, { recursive: true });
      cpSync(join(data.home, 'again'), data.folder, { recursive: true });
      flip(data.mark, slot * SLOT_BYTES + 20);
      await data.expectLedger(CALLS, []);
      rmSync(data.folder, { recursive: true });
      cpSync(join(data.home, 'again'), data.folder, { recursive: true });
      flip(data.mark, slot * SLOT_BYTES + 20);
      rmSync(data.log);
      expect((await data.refusal()).loss.receipts).toBeGreaterThanOrEqual(BigInt(CALLS) - 1n);
    }
    expect(data.notices).toEqual([]);
  });

  test('with two damaged slots is reported as unreadable', async () => {
    await data.killedAfter();
    flip(data.mark, 20);
    flip(data.mark, SLOT_BYTES + 20);
    await data.expectLedger(CALLS, []);
    expect(data.notices).toEqual([expect.stringMatching(/^Cannot read the file tollgate.mark/)]);
  });

  test('is created without a notice for a new ledger', async () => {
    await data.expectLedger(0, []);
    expect(data.notices).toEqual([]);
    expect(statSync(data.mark).size).toBe(2 * SLOT_BYTES);
  });
});

describe('accepting a loss', () => {
  test('takes the database alone where the damaged log had been moved into it already', async () => {
    await data.killedAfter();
    const other = new DatabaseSync(join(data.running, 'tollgate.sqlite'));
    other.exec('PRAGMA wal_checkpoint(PASSIVE)');
    rmSync(data.folder, { recursive: true });
    cpSync(data.running, data.folder, { recursive: true });
    other.close();
    flip(data.log, Math.floor(statSync(data.log).size * 0.4));
    expect((await data.refusal()).loss).toEqual({ receipts: 0n, spentNanousd: 0n });
    expect(await data.accept(0n)).toMatchObject({ receipts: 0 });
    await data.expectLedger(CALLS, [0n]);
  });

  test('wants the number of missing receipts, keeps the damaged files, and leaves a note', async () => {
    await data.killedAfter();
    flip(data.log, Math.floor(statSync(data.log).size * 0.6));
    const { loss } = await data.refusal();
    const damaged = readFileSync(data.log);
    expect(await data.accept(null)).toEqual({ refused: expect.stringContaining(`--receipts ${loss.receipts}`) });
    expect(await data.accept(loss.receipts + 1n)).toEqual({
      refused: expect.stringContaining(`--receipts ${loss.receipts}`),
    });
    await data.refusal();
    const accepted = await data.accept(loss.receipts);
    expect(accepted).toMatchObject({ receipts: Number(loss.receipts), spent_nanousd: loss.spentNanousd });
    const keptIn = 'kept_in' in accepted ? accepted.kept_in! : '';
    expectSame(readFileSync(join(keptIn, 'tollgate.sqlite-wal')), damaged);
    await data.expectLedger(CALLS - Number(loss.receipts), [loss.receipts]);
    expect(await data.accept(0n)).toEqual({ refused: expect.stringContaining('Nothing is missing') });
  });

  test('is not needed after a backup is restored', async () => {
    await data.killedAfter();
    const file = join(data.home, 'backup.sqlite');
    await backUp({ folder: data.running, file, clock });
    rmSync(data.log);
    await data.refusal();
    expect(await data.restore(file)).toMatchObject({ books: { ok: true, receipts: CALLS } });
    await data.expectLedger(CALLS, []);
  });

  test('goes through the command line, with exit code 3 before it and a finding of doctor after it', async () => {
    await data.killedAfter();
    rmSync(data.log);
    const { loss } = await data.refusal();
    const run = async (...args: string[]) => {
      const text: string[] = [];
      const terminal = {
        writeOut: (out: string) => void text.push(out),
        writeErr: (out: string) => void text.push(out),
      };
      const env = { HOME: data.home, TOLLGATE_DATA: data.folder };
      const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: data.home, clock }));
      return { code, text: text.join('') };
    };
    for (const command of [
      ['accounts', 'list'],
      ['ledger', 'verify'],
      ['serve', '--port', '0'],
    ]) {
      const { code, text } = await run(...command);
      expect(code).toBe(3);
      expect(text).toContain('accept-loss');
      expect(text).not.toContain('bug');
    }
    expect(await run('store', 'accept-loss')).toMatchObject({ code: 1 });
    expect(await run('store', 'accept-loss', '--receipts', 'many')).toMatchObject({ code: 2 });
    expect(await run('store', 'accept-loss', '--receipts', `${loss.receipts}`)).toMatchObject({ code: 0 });
    expect((await run('ledger', 'verify')).text).toMatch(/accepted loss +20 receipts, \$0\.00002/);
    expect((await run('doctor')).text).toMatch(/accepted loss +ok +20 receipts/);
  });
});
