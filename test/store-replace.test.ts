import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock as clock } from '../src/kit/clock.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { CALLS, COST, LossFolder } from './loss-folder.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const data = new LossFolder();

describe('replacing a ledger', () => {
  /** The files of a data.folder in which a backup of 20 calls was put over a ledger of 21, and those from before. */
  async function replaced(): Promise<{ before: string; after: string }> {
    await data.killedAfter();
    const file = join(data.home, 'backup.sqlite');
    await backUp({ folder: data.running, file, clock });
    const store = await data.open();
    await store.beginInstance();
    await store.apply([aHold(99n, COST, { epoch: 2n })]);
    await store.apply([aSettle(99n, COST)]);
    await store.close();
    const [before, after] = [join(data.home, 'before'), join(data.home, 'after')];
    cpSync(data.folder, before, { recursive: true });
    expect(await data.restore(file)).toMatchObject({ books: { receipts: CALLS } });
    cpSync(data.folder, after, { recursive: true });
    rmSync(data.folder, { recursive: true });
    return { before, after };
  }

  const intend = (generation: number): void =>
    writeFileSync(
      join(data.folder, 'replacement.json'),
      JSON.stringify({ generation: String(generation), keptIn: join(data.folder, 'before-restore-x') }),
    );

  test('is finished by the next start, wherever it was interrupted', async () => {
    const { before, after } = await replaced();
    const draft = join(data.folder, 'replacement.sqlite');
    const states: (() => void)[] = [
      // Announced, and nothing moved yet.
      () => copyFileSync(join(after, 'tollgate.sqlite'), draft),
      // The old database has its second name.
      () => {
        copyFileSync(join(after, 'tollgate.sqlite'), draft);
        mkdirSync(join(data.folder, 'before-restore-x'));
        copyFileSync(data.database, join(data.folder, 'before-restore-x', 'tollgate.sqlite'));
      },
      // The new database is in place, and the mark is still that of the old one.
      () => copyFileSync(join(after, 'tollgate.sqlite'), data.database),
    ];
    for (const interrupt of states) {
      cpSync(before, data.folder, { recursive: true });
      interrupt();
      intend(2);
      await data.expectLedger(CALLS, []);
      expect(readdirSync(data.folder).filter((name) => name.startsWith('replacement'))).toEqual([]);
      rmSync(data.folder, { recursive: true });
    }
  });

  test('that can be neither finished nor undone is refused in one sentence', async () => {
    const { before } = await replaced();
    cpSync(before, data.folder, { recursive: true });
    intend(2);
    await expect(data.open()).rejects.toThrow(
      /^A restore into .* was interrupted .* "tollgate store restore FILE --force" again\.$/,
    );
  });

  test('that was only prepared leaves the ledger as it was', async () => {
    const { before, after } = await replaced();
    cpSync(before, data.folder, { recursive: true });
    copyFileSync(join(after, 'tollgate.sqlite'), join(data.folder, 'replacement.sqlite'));
    await data.expectLedger(CALLS + 1, []);
  });
});
