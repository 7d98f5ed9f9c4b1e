import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/kit/clock.ts';
import { restoreStore } from '../src/main/restore-store.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { breakSeal } from '../src/store/sqlite/backup-seal.ts';
import { lockFolder } from '../src/store/sqlite/lock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { makeBooksWithAPast } from './filled-store.ts';
import { type Harness, startHarness } from './harness.ts';
import { ALL_RECEIPTS, aCredit } from './store-fixtures.ts';

const clock = systemClock;
const silent = () => undefined;

describe('a backup of a ledger in use', () => {
  let home: string;
  let harness: Harness;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    harness = await startHarness();
  });

  afterEach(async () => {
    await harness.stop();
    rmSync(home, { recursive: true });
  });

  const chat = (sim: object = {}): Promise<Response> =>
    harness.post({ model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], sim });
  /** The id of a call whose client has seen its end. */
  const answered = async (): Promise<string> => {
    const response = await chat();
    await response.text();
    expect(response.status).toBe(200);
    return response.headers.get('x-gateway-request-id') ?? '';
  };
  const restored = async (file: string): Promise<Harness> => {
    const folder = join(home, 'restored');
    expect(await restoreStore({ file, folder, force: false, progress: silent }, clock)).toMatchObject({
      kept_in: null,
      books: { ok: true },
    });
    // A backup does not contain the master key.
    cpSync(join(harness.folder, 'master.key'), join(folder, 'master.key'));
    return startHarness({ folder });
  };

  it('contains every receipt that was acknowledged before it began, while calls continue', async () => {
    const seen: string[] = [];
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) seen.push(await answered());
    });
    const held = Array.from({ length: 4 }, () => chat({ gateHead: 'backup' }));
    await harness.sim.waitForGate('backup', 4);
    const files = ['one', 'two', 'three'].map((name) => join(home, `${name}.sqlite`));
    const before: string[][] = [];
    for (const file of files) {
      await Promise.all([answered(), answered()]);
      before.push([...seen]);
      const { books } = await harness.running.books.backUp!(file);
      expect(books.violations).toEqual([]);
      expect(books.openHolds).toBeGreaterThanOrEqual(4);
      expect(books.receipts).toBeGreaterThanOrEqual(before.at(-1)!.length);
    }
    isOver = true;
    await Promise.all(clients);
    harness.sim.release('backup', 4);
    for (const response of await Promise.all(held)) expect((await response.text()).length).toBeGreaterThan(0);
    const again = await restored(files[2]!);
    expect(again.running.voidedHolds).toBeGreaterThanOrEqual(4);
    for (const id of before[2]!) {
      expect(await again.receipt(id)).toEqual(await harness.receipt(id));
    }
    await again.expectCleanBooks();
    await again.stop();
  });

  it('is readable by the owner only, leaves no draft behind, and never replaces a file', async () => {
    await answered();
    const file = join(home, 'books.sqlite');
    await harness.running.books.backUp!(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(['books.sqlite']);
    await expect(harness.running.books.backUp!(file)).rejects.toThrow('already');
    await expect(harness.running.books.backUp!(join(home, 'nowhere', 'books.sqlite'))).rejects.toThrow(
      `The folder ${join(home, 'nowhere')} does not exist.`,
    );
    await expect(harness.running.books.backUp!(join(file, 'books.sqlite'))).rejects.toThrow('ENOTDIR');
    expect(readdirSync(home)).toEqual(['books.sqlite']);
  });
});

describe('restoring a backup', () => {
  let home: string;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-restore-'));
    folder = join(home, 'books');
    file = join(home, 'backup.sqlite');
    await makeBooksWithAPast({ folder, calls: 300 });
    await backUp({ folder, file, clock });
  });

  afterEach(() => rmSync(home, { recursive: true }));

  const restore = (force = false, into = folder, from = file) =>
    restoreStore({ file: from, folder: into, force, progress: silent }, clock);
  const open = (where: string): Promise<Store> => openSqliteStore({ folder: where, clock, threads: false });
  const creditMore = async (): Promise<void> => {
    const store = await open(folder);
    await store.apply([aCredit(1_000n, 5n, { reference: 'after the backup' })]);
    await store.close();
  };

  it('restores everything', async () => {
    const into = join(home, 'new');
    expect(await restore(false, into)).toMatchObject({
      folder: into,
      kept_in: null,
      books: { ok: true, open_holds: 1 },
    });
    const [before, after] = [await open(folder), await open(into)];
    const page = { limit: 1_000, after: null };
    expect(await after.listAccounts(page)).toEqual(await before.listAccounts(page));
    expect(await after.listReceipts(ALL_RECEIPTS, page)).toEqual(await before.listReceipts(ALL_RECEIPTS, page));
    expect(await after.beginInstance()).toMatchObject({ voidedHolds: 1 });
    expect((await after.verify()).violations).toEqual([]);
    await before.close();
    await after.close();
  });

  it('refuses a folder with a ledger, and with --force moves that aside, complete', async () => {
    await creditMore();
    writeFileSync(join(folder, 'master.key'), 'kept');
    expect(await restore()).toEqual({ refused: expect.stringContaining('--force') });
    const done = await restore(true);
    const keptIn = 'kept_in' in done ? done.kept_in! : '';
    expect(keptIn.startsWith(folder)).toBe(true);
    expect(existsSync(join(folder, 'master.key'))).toBe(true);
    const [now, before] = [await open(folder), await open(keptIn)];
    expect(await now.apply([aCredit(1_000n, 5n, { reference: 'after the backup' })])).toMatchObject([
      { kind: 'credited' },
    ]);
    expect(await before.apply([aCredit(2_000n, 5n, { reference: 'after the backup' })])).toMatchObject([
      { kind: 'credit_repeated' },
    ]);
    expect((await before.verify()).violations).toEqual([]);
    await now.close();
    await before.close();
  });

  it('keeps what only the log of the old ledger contains', async () => {
    const database = new DatabaseSync(join(folder, 'tollgate.sqlite'));
    database.exec("INSERT INTO name (id, text) VALUES (1000, 'in the log')");
    // As a killed process leaves it: the log is still separate.
    const killed = join(home, 'killed');
    cpSync(folder, killed, { recursive: true });
    database.close();
    expect(readdirSync(killed)).toContain('tollgate.sqlite-wal');
    const done = await restore(true, killed);
    expect(readdirSync(killed)).not.toContain('tollgate.sqlite-wal');
    const kept = new DatabaseSync(join('kept_in' in done ? done.kept_in! : '', 'tollgate.sqlite'));
    expect(kept.prepare('SELECT text FROM name WHERE id = 1000').get()).toMatchObject({ text: 'in the log' });
    kept.close();
  });

  it('moves a ledger aside that cannot be opened, with its log', async () => {
    writeFileSync(join(folder, 'tollgate.sqlite'), 'worn away');
    writeFileSync(join(folder, 'tollgate.sqlite-wal'), 'this too');
    const done = await restore(true);
    const keptIn = 'kept_in' in done ? done.kept_in! : '';
    expect(readFileSync(join(keptIn, 'tollgate.sqlite'), 'utf8')).toBe('worn away');
    expect(readFileSync(join(keptIn, 'tollgate.sqlite-wal'), 'utf8')).toBe('this too');
    expect(existsSync(join(folder, 'tollgate.sqlite-wal'))).toBe(false);
    const store = await open(folder);
    expect((await store.verify()).violations).toEqual([]);
    await store.close();
  });

  it('refuses a folder that a server has open', async () => {
    const lock = lockFolder(folder, { pid: 4711, url: null, socketPath: null, startedMs: 0 });
    expect(await restore(true)).toEqual({ refused: expect.stringContaining('4711'), unreachable: true });
    if ('release' in lock) lock.release();
  });

  it.each([0.1, 0.5, 0.9, 0.9999, 1])(
    'refuses a backup with one changed bit at %d of its length, and names it',
    async (part) => {
      const bytes = readFileSync(file);
      bytes[Math.floor((bytes.length - 1) * part)]! ^= 1;
      writeFileSync(file, bytes);
      expect(await restore(true)).toEqual({ refused: expect.stringMatching(/^backup\.sqlite has changed since/) });
      const store = await open(folder);
      expect((await store.verify()).violations).toEqual([]);
      await store.close();
    },
  );

  it('takes a backup of an older version, which has no digest', async () => {
    breakSeal(file, file);
    expect(await restore(true)).toMatchObject({ books: { ok: true } });
  });

  it.each([
    ['what is not there', (to: string) => rmSync(to), 'does not exist'],
    [
      'what is no database',
      (to: string) => writeFileSync(to, 'a letter to a friend, of some length and no structure'),
      'not a backup',
    ],
    ['half a backup', (to: string) => halve(to), 'digest'],
    ['a backup with a page that lies', (to: string) => emptyIndex(to), 'damaged'],
    ['the database of another program', (to: string) => otherProgram(to), 'not a Tollgate ledger'],
    [
      'books of a newer program',
      (to: string) => sql(to, "UPDATE meta SET value = 99 WHERE name = 'schema'"),
      'newer version of Tollgate',
    ],
    ['books that do not balance', (to: string) => sql(to, 'UPDATE balance SET balance = balance + 1'), 'inconsistent'],
    [
      'usage sums that differ from the receipts',
      (to: string) => sql(to, 'UPDATE usage_hour SET requests = requests + 1'),
      'Usage of the hour',
    ],
  ])('refuses %s, and leaves everything as it was', async (_, spoil, words) => {
    // A digest would find the change first; what is tested here comes after it.
    breakSeal(file, file);
    spoil(file);
    const before = readdirSync(folder).filter((name) => name !== 'lock.sqlite');
    expect(await restore(true)).toEqual({ refused: expect.stringContaining(words) });
    expect(readdirSync(folder).filter((name) => name !== 'lock.sqlite')).toEqual(before);
    const store = await open(folder);
    expect((await store.verify()).violations).toEqual([]);
    await store.close();
  });
});

function sql(file: string, text: string): void {
  const database = new DatabaseSync(file);
  database.exec(text);
  database.close();
}

function otherProgram(file: string): void {
  rmSync(file);
  sql(file, 'CREATE TABLE song (title TEXT)');
}

/** Empties an index from which no sum is read. */
function emptyIndex(file: string): void {
  const database = new DatabaseSync(file);
  const [index] = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'api_key_by_version'").all();
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.page_size);
  database.close();
  const bytes = readFileSync(file);
  bytes.writeUInt16BE(0, (Number(index?.rootpage) - 1) * pageBytes + 3);
  writeFileSync(file, bytes);
}

function halve(file: string): void {
  const database = new DatabaseSync(file);
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
  database.close();
  const { size } = statSync(file);
  truncateSync(file, (size / pages) * (pages >> 1));
}
