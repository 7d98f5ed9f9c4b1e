import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { FolderMoved, openBooks } from '../src/main/books.ts';
import { copyStore } from '../src/main/copy-store.ts';
import { restoreStore } from '../src/main/restore-store.ts';
import { copyLedger } from '../src/store/copy.ts';
import { openPostgresTarget } from '../src/store/postgres/copy-target.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteSource } from '../src/store/sqlite/copy-source.ts';
import { markMoved, whyMoved } from '../src/store/sqlite/moved-ledger.ts';
import { makeBooksWithAPast } from './filled-store.ts';
import { freshSchema, runSql } from './postgres.ts';

/** After a copy there are two equal ledgers: the old one is marked and can then only be read. */

const silent = () => undefined;

describe('a folder whose ledger was copied', () => {
  let home: string;
  let folder: string;
  let mark: string;
  let url: string;
  let place: string;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'tollgate-moved-'));
    folder = join(home, 'books');
    mark = join(folder, 'moved.json');
    const given = new URL(await freshSchema());
    if (given.password === '') given.password = 'hunter2';
    url = given.href;
    place = `PostgreSQL ${given.searchParams.get('host') ?? given.host}${given.pathname}`;
    await makeBooksWithAPast({ folder, calls: 20 });
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const copyTo = (to: string) => copyStore({ from: folder, to, progress: silent }, systemClock);
  const copy = () => copyTo(url);
  const open = () =>
    openBooks({
      config: { dataFolder: folder, store: null, retention: { receiptsDays: null, archiveFolder: null } },
      clock: systemClock,
      socketPath: null,
      onFatal: silent,
    });

  /** The command as typed. */
  const tollgate = (...args: string[]) =>
    new Promise<{ code: unknown; out: string; err: string }>((done) => {
      const env = processEnvironment(home, { TOLLGATE_DATA: folder });
      execFile(process.execPath, [BIN, ...args], { env, cwd: home, timeout: 60_000 }, (error, out, err) =>
        done({ code: error === null ? 0 : error.code, out, err }),
      );
    });

  it('is refused for use, with its new place and the way back', async () => {
    expect(await tollgate('store', 'copy', '--to', url)).toMatchObject({
      code: EXIT.ok,
      err: expect.stringContaining('The old folder is marked'),
    });
    const sentence = `The ledger in ${folder} has moved to ${place}. Use it there, with TOLLGATE_STORE or --store. To return to this folder, stop all processes that use the new place and delete ${mark}.\n`;
    const refused = { code: EXIT.moved, out: '', err: sentence };
    expect(await tollgate('serve', '--port', '0', '--no-local-hosts')).toEqual(refused);
    expect(await tollgate('accounts', 'credit', 'alice', '5')).toEqual(refused);
    expect(await tollgate('keys', 'mint', '--account', 'alice')).toEqual(refused);
    expect(statSync(mark).mode & 0o077).toBe(0);
  });

  it('can still be read, and reading does not count as use', async () => {
    await copy();
    const reads = [
      ['accounts', 'list'],
      ['receipts', 'list'],
      ['ledger', 'verify'],
      ['store', 'backup', join(home, 'backup.sqlite')],
    ];
    for (const args of reads) expect(await tollgate(...args), args.join(' ')).toMatchObject({ code: EXIT.ok });
    expect(await tollgate('doctor')).toMatchObject({ code: EXIT.no, out: expect.stringContaining('has moved to') });
    expect(await tollgate('store', 'copy', '--to', url)).toEqual({
      code: EXIT.ok,
      out: '',
      err: 'This ledger was copied there before and has not changed since. Nothing to do.\n',
    });
  });

  it('can neither be copied elsewhere nor receive a backup', async () => {
    await copy();
    expect(await copyTo(await freshSchema())).toEqual({ refused: expect.stringContaining(`moved to ${place}`) });
    const terms = { file: join(home, 'any.sqlite'), folder, force: true, progress: silent };
    expect(await restoreStore(terms, systemClock)).toEqual({ refused: expect.stringContaining('has moved') });
  });

  it('can be used again once the mark was deleted, and then differs from the copy', async () => {
    await copy();
    await expect(open()).rejects.toThrow(FolderMoved);
    rmSync(mark);
    await (await open()).close();
    expect(await copy()).toEqual({ refused: expect.stringContaining('already contains a ledger') });
    expect(existsSync(mark)).toBe(false);
    expect(await copyTo(await freshSchema())).toMatchObject({ ok: true, start: 'begun' });
    expect(existsSync(mark)).toBe(true);
  });

  it('is marked before the copy can be used, so that an interruption never leaves two usable ledgers', async () => {
    const target = await openPostgresTarget({ url, clock: systemClock });
    const source = await openSqliteSource({ folder, clock: systemClock });
    target.finish = () => Promise.reject(new Error('broken off'));
    const leaving = { moved: null, leave: () => markMoved(folder, place, 0) };
    await expect(copyLedger(source, target, silent, leaving)).rejects.toThrow('broken off');
    await source.close();
    await target.close();
    await expect(open()).rejects.toThrow(FolderMoved);
    const store = await openPostgresStore({ url, clock: systemClock });
    await expect(store.beginInstance()).rejects.toThrow('not finished');
    expect(await copy()).toMatchObject({ ok: true, start: 'resumed' });
    await store.beginInstance();
    await store.close();
  });

  it('is not marked by a copy that differs', async () => {
    const target = await openPostgresTarget({ url, clock: systemClock });
    const source = await openSqliteSource({ folder, clock: systemClock });
    const setState = target.setState.bind(target);
    target.setState = async (...state) => {
      await setState(...state);
      await runSql(url, 'UPDATE balance SET balance = balance + 1 WHERE account_id = 4');
    };
    const leaving = { moved: null, leave: () => markMoved(folder, place, 0) };
    expect(await copyLedger(source, target, silent, leaving)).not.toMatchObject({ faults: [] });
    await source.close();
    await target.close();
    expect(whyMoved(folder)).toBeNull();
  });

  it('is refused even if the mark is unreadable', () => {
    writeFileSync(mark, '{');
    expect(whyMoved(folder)).toContain('moved to another place');
  });
});
