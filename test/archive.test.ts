import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { fillStore } from '../bench/fill-store.ts';
import { archiveAudit } from '../campaigns/archive/audit.ts';
import { killedArchive } from '../campaigns/archive/kill.ts';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import {
  ARCHIVE_STEPS,
  ArchiveBusy,
  type ArchiveFile,
  type ArchiveReport,
  type ArchiveStep,
  type ArchiveTerms,
} from '../src/store/receipt-archive.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { FIRST_MS, type MonthSubject, makeCalls, openAccounts, openSubject } from './month-subject.ts';
import { Random } from './random.ts';
import { aHold, aSettle } from './store-fixtures.ts';
import { until } from './until.ts';

const DAY_MS = 86_400_000;
const MARCH_MS = Date.UTC(2026, 2, 1);
/** Calls of 100 days are in this many months. */
const LAST_MONTH = 4;

const ANY = { accountId: null, actorId: null, action: null, subject: null, sinceMs: null, untilMs: null };

describe.each(['sqlite', 'postgres'] as const)('archiving receipts on %s', (engine) => {
  let subject: MonthSubject;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
    subject = await openSubject(engine, folder);
    await openAccounts(subject);
  });
  afterEach(async () => {
    await subject.dispose();
    rmSync(folder, { recursive: true });
  });

  /** Calls since January, by default to April, all closed. */
  const fill = async (calls = 40, days = 100): Promise<void> => {
    await makeCalls(subject, new Random(1), calls, days);
    await subject.store.closeBooks(null);
  };
  const archive = (over: Partial<ArchiveTerms> = {}): Promise<ArchiveReport> =>
    subject.store.archive.run({ folder, beforeMs: MARCH_MS, clock: subject.clock, audit: archiveAudit, ...over });
  const kept = async (): Promise<bigint[]> =>
    (await subject.sql('SELECT id FROM call ORDER BY id')).map(({ id }) => BigInt(id as bigint));
  const files = () => subject.store.directory.listArchiveFiles();
  const problems = async () => (await subject.store.archive.check(folder)).problems;
  const violations = async () => (await subject.store.verify()).violations;
  const dataOf = (file: ArchiveFile) => join(folder, `${file.name}.jsonl.gz`);

  /** PostgreSQL notices only after a moment that a process is gone, and keeps its lock until then. */
  const released = async (run: () => Promise<unknown>): Promise<void> =>
    until(async () => {
      try {
        await run();
        return true;
      } catch (error) {
        if (error instanceof ArchiveBusy) return false;
        throw error;
      }
    }, 'the lock of the killed process is gone');

  /** Nothing is tidied up after this step, so the disk is left as by a process that was killed. */
  const killAt =
    (step: ArchiveStep): Required<ArchiveTerms>['reached'] =>
    async (at) => {
      if (at === step) throw new Error('killed');
    };

  /** The ids in all files that the ledger knows of. */
  const archived = async (): Promise<bigint[]> =>
    (await files()).flatMap((file) =>
      gunzipSync(readFileSync(dataOf(file)))
        .toString()
        .split('\n')
        .flatMap((line) => (line.includes('"leaf"') ? [BigInt(JSON.parse(line).id)] : [])),
    );

  it('moves whole months into files, in which each receipt is found as it was, by its own account', async () => {
    await fill();
    const before = await kept();
    const receipts = await Promise.all(before.map((id) => subject.store.findReceipt(id, null)));
    const report = await archive();
    expect(report.files.map(({ monthMs }) => new Date(monthMs).getUTCMonth())).toEqual([0, 1]);
    const left = await kept();
    expect(left.length).toBeGreaterThan(10);
    expect([...(await archived()), ...left]).toEqual(before);
    expect(report.forgotten).toBe(before.length - left.length);
    expect(await Promise.all(before.map((id) => subject.store.findReceipt(id, null)))).toEqual(receipts);
    const { id, accountId } = receipts[0]!;
    expect((await subject.store.findReceipt(id, accountId))?.id).toBe(id);
    expect(await subject.store.findReceipt(id, accountId + 1n)).toBeNull();
    expect(await subject.store.findReceipt(id + 1n, null)).toBeNull();
    expect(await violations()).toEqual([]);
    expect(await subject.store.archive.check(folder)).toEqual({
      files: 2,
      receipts: report.forgotten,
      notArchived: 0,
      problems: [],
    });
    const [entry] = await subject.store.directory.listAudit(ANY, { before: null, limit: 1 });
    expect(entry).toMatchObject({ action: 'store.archive', subject: report.files[1]!.name });
  });

  it('loses nothing and has nothing twice after kill -9 at each step, and goes on when it is run again', async () => {
    await fill(90, 240);
    const before = await kept();
    for (const [at, step] of ARCHIVE_STEPS.entries()) {
      const beforeMs = Date.UTC(2026, at + 1, 1);
      const nowMs = subject.clock.nowMs();
      await subject.reopen(() =>
        killedArchive({ engine, place: subject.place, folder, beforeMs, nowMs, step, count: 1 }),
      );
      const found = new Set([...(await archived()), ...(await kept())]);
      expect([...found].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(before);
      expect(await violations()).toEqual([]);
      expect(await problems()).toEqual([]);
      await released(() => archive({ beforeMs }));
      expect([...(await archived()), ...(await kept())]).toEqual(before);
    }
    expect(await violations()).toEqual([]);
    expect(await problems()).toEqual([]);
    expect(await files()).toHaveLength(ARCHIVE_STEPS.length);
    expect(readdirSync(folder)).toHaveLength(2 * ARCHIVE_STEPS.length);
  });

  it('archives a part of a month, and the rest of it later in a file that continues the first', async () => {
    await fill();
    const before = await kept();
    await archive({ beforeMs: FIRST_MS + 20 * DAY_MS });
    expect(await problems()).toEqual([]);
    expect(await violations()).toEqual([]);
    await archive();
    const names = (await files()).map(({ name }) => name.slice(0, 20));
    expect(names).toEqual(['receipts-2026-01-001', 'receipts-2026-02-001', 'receipts-2026-02-002']);
    expect([...(await archived()), ...(await kept())]).toEqual(before);
    expect(await problems()).toEqual([]);
    expect(await violations()).toEqual([]);
    expect((await subject.store.verify(undefined, MARCH_MS)).violations).toEqual([]);
  });

  it('does nothing if no receipt is old enough, and counts those that were deleted without an archive', async () => {
    await fill();
    expect(await archive({ beforeMs: FIRST_MS - 40 * DAY_MS })).toEqual({ files: [], forgotten: 0 });
    expect(readdirSync(folder)).toEqual([]);
    const { forgotten } = await subject.store.closeBooks(FIRST_MS + 15 * DAY_MS);
    expect(forgotten).toBeGreaterThan(3);
    await archive();
    const check = await subject.store.archive.check(folder);
    expect(check.problems).toEqual([]);
    expect(check.notArchived).toBeGreaterThan(0);
  });

  it('names every file that has changed or is missing, and shows no receipt of it', async () => {
    await fill();
    const [first] = await kept();
    await archive();
    const [january, february] = await files();
    const manifest = join(folder, `${january!.name}.json`);
    const [data, text] = [readFileSync(dataOf(january!)), readFileSync(manifest)];
    const damaged = Buffer.from(data);
    damaged[damaged.length - 20]! ^= 1;
    writeFileSync(dataOf(january!), damaged);
    expect(await problems()).toEqual([expect.stringMatching(`^${january!.name}: it has changed since`)]);
    const remedy = `has changed since it was written. Restore it from a backup; "tollgate store archive --check ${folder}" names`;
    await expect(subject.store.archive.find(first!, null)).rejects.toThrow(remedy);
    expect(await subject.store.findReceipt(first!, null)).toBeNull();
    writeFileSync(dataOf(january!), data.subarray(0, -50));
    expect(await problems()).toEqual([expect.stringMatching('cut short')]);
    writeFileSync(dataOf(january!), data);
    writeFileSync(manifest, text.toString().replace('"receipts": ', '"receipts":  '));
    expect(await problems()).toEqual([`${january!.name}: its manifest has changed since it was archived.`]);
    writeFileSync(manifest, text);
    rmSync(dataOf(february!));
    expect(await problems()).toEqual([`${february!.name}: the file or its manifest is missing.`]);
  });

  it('refuses a month whose receipts have changed since they were closed, and deletes none of them', async () => {
    await fill();
    const before = await kept();
    await subject.sql(`UPDATE call SET http_status = 299 WHERE id = ${before[0]}`);
    await expect(archive()).rejects.toThrow(/are not those that were closed\. Nothing was deleted/);
    expect(await kept()).toEqual(before);
    expect(await files()).toEqual([]);
  });

  it('archives what it has read of a month to which receipts are added meanwhile', async () => {
    await fill();
    const beforeMs = subject.clock.nowMs();
    const before = await kept();
    let written = 0;
    const grow = async (step: ArchiveStep): Promise<void> => {
      if (step !== 'written' || ++written < LAST_MONTH) return;
      const nowMs = subject.clock.nowMs();
      await subject.store.apply([aHold(BigInt(nowMs), 10n, { createdMs: nowMs })]);
      await subject.store.apply([aSettle(BigInt(nowMs), 1n)]);
      subject.clock.advance(2 * LIMITS.closingAgeMs);
      await subject.store.closeBooks(null);
    };
    expect((await archive({ beforeMs, reached: grow })).forgotten).toBe(before.length);
    expect(await archived()).toEqual(before);
    expect(await problems()).toEqual([]);
    expect(await violations()).toEqual([]);
  });

  it('waits until receipts that an earlier version closed are in the usage sums', async () => {
    await fill();
    const before = await kept();
    for (const table of ['usage_hour', 'usage_day', 'usage_state']) await subject.sql(`DELETE FROM ${table}`);
    await expect(archive()).rejects.toThrow(/are not in the usage sums yet/);
    expect(await kept()).toEqual(before);
    await subject.store.closeBooks(null);
    expect((await archive()).forgotten).toBeGreaterThan(0);
    const [sums] = await subject.sql('SELECT sum(requests) AS requests FROM usage_day');
    expect(Number(sums!.requests)).toBe(before.length);
    expect(await violations()).toEqual([]);
  });

  it('does not delete receipts whose file is not in the folder', async () => {
    await fill();
    await expect(archive({ reached: killAt('noted') })).rejects.toThrow('killed');
    await subject.reopen();
    const before = await kept();
    const elsewhere = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
    await expect(archive({ folder: elsewhere })).rejects.toThrow(/Name the folder that has it/);
    expect(await kept()).toEqual(before);
    rmSync(elsewhere, { recursive: true });
  });

  it.skipIf(process.platform !== 'linux')(
    'refuses a folder where the system makes none, and deletes nothing',
    async () => {
      await fill();
      const before = await kept();
      await expect(archive({ folder: '/proc/tollgate-none' })).rejects.toThrow(
        /^Cannot write to \/proc\/tollgate-none \(ENOENT\)/,
      );
      expect(await kept()).toEqual(before);
    },
  );

  it('says that the disk is full, and deletes nothing that is not in a complete file', async () => {
    await fill();
    const before = await kept();
    const full = async (step: string): Promise<void> => {
      if (step === 'block') throw Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' });
    };
    await expect(archive({ reached: full })).rejects.toThrow(/^There is no space left in .* \(ENOSPC\)/);
    expect(await kept()).toEqual(before);
  });

  it('refuses a second run, and lets nothing else delete receipts meanwhile', async () => {
    await fill();
    const before = await kept();
    const { promise: going, resolve: resume } = Promise.withResolvers<void>();
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    const begun = archive({
      reached: async (step) => {
        if (step !== 'written') return;
        written();
        await going;
      },
    });
    await isWritten;
    await expect(archive()).rejects.toThrow(/being archived already/);
    expect(await subject.store.closeBooks(subject.clock.nowMs())).toEqual({ closed: 0, forgotten: 0 });
    resume();
    await begun;
    expect([...(await archived()), ...(await kept())]).toEqual(before);
  });
});

test('20,000 receipts are archived to 4,000, while the ledger stays exact', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
  const [folder, to] = [join(home, 'books'), join(home, 'archive')];
  fillStore({ folder, calls: 20_000, accounts: 10, days: 150 });
  const store = await openSqliteStore({ folder, clock: systemClock, threads: false, archiveFolder: to });
  expect((await store.closeBooks(null)).closed).toBe(20_000);
  // A ledger of this size has a second thread for the usage sums.
  changeSums(folder, 'cost + 1');
  expect((await store.verify()).violations[0]).toMatch(/^Usage of the hour .*: cost is /);
  changeSums(folder, 'cost - 1');
  const beforeMs = Date.now() - 31 * DAY_MS;
  const { files, forgotten } = await store.archive.run({
    folder: to,
    beforeMs,
    clock: systemClock,
    audit: archiveAudit,
  });
  expect(files.reduce((sum, file) => sum + file.receipts, 0)).toBe(forgotten);
  expect(forgotten).toBeGreaterThan(15_900);
  expect(await store.verify()).toMatchObject({
    receipts: 20_000,
    notKept: forgotten,
    violations: [],
  });
  expect(await store.archive.check(to)).toMatchObject({ receipts: forgotten, problems: [] });
  await store.close();
  rmSync(home, { recursive: true });
});

/** Changes the sums of the last hour without the store's knowledge. */
function changeSums(folder: string, cost: string): void {
  const database = new DatabaseSync(databaseFile(folder));
  const last = 'SELECT start_ms, account_id FROM usage_hour ORDER BY start_ms DESC, account_id LIMIT 1';
  database.exec(`UPDATE usage_hour SET cost = ${cost} WHERE (start_ms, account_id) = (${last})`);
  database.close();
}
