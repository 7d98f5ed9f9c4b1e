import { stringifyJson } from '../../json/stringify.ts';
import type { BackupView, RestoreView } from '../../operator/store.ts';
import type { VerifyView } from '../../operator/view.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, usageFailure } from '../failure.ts';
import type { Leaf } from '../leaf.ts';
import { ProgressLine } from '../progress.ts';
import { formatRecord } from '../table.ts';

const MASTER_KEYS = 'Master keys are not in a backup: keep them apart, without them no stored provider key opens.';

export const backupLeaf: Leaf = {
  name: 'backup <file>',
  summary: 'write the books of the data folder into one file, while the server runs, and verify what was written',
  examples: ['tollgate store backup /var/backups/tollgate-2027-01-31.sqlite'],
  async run(session, [file = '']) {
    const line = new ProgressLine(session);
    const progress = ({ rowsRead, rowsTotal }: { rowsRead: number; rowsTotal: number }): void =>
      line.tell('verifying the copy', rowsRead, rowsTotal);
    const answer = await session
      .ask('store.backup', { file: session.pathOf(file) }, { progress })
      .finally(() => line.end());
    session.show(answer, describeBackup);
    const { ok, violations } = answer.result.books;
    for (const violation of violations) session.say(violation);
    session.advise(
      ok ? `The books in it are exact. ${MASTER_KEYS}` : 'THE BOOKS IN IT ARE WRONG, as those that were copied.',
    );
    return ok ? EXIT.ok : EXIT.no;
  },
};

export const restoreLeaf: Leaf = {
  name: 'restore <file>',
  summary: 'put a backup in the place of the books of a data folder, with no server on it',
  options: [['--force', 'replace books that are there; they are kept in a folder beside them']],
  examples: ['tollgate store restore /var/backups/tollgate-2027-01-31.sqlite --data ./books'],
  async run(session, [file = ''], options) {
    const { store, dataFolder: folder } = session.config('leave');
    if (store !== null) {
      throw usageFailure('A backup of this kind goes into a folder; PostgreSQL has its own ways to restore.');
    }
    const line = new ProgressLine(session);
    const restored = await session.composition
      .restoreStore({
        file: session.pathOf(file),
        folder,
        force: options.force === true,
        progress: ({ rowsRead, rowsTotal }) => line.tell('verifying', rowsRead, rowsTotal),
      })
      .finally(() => line.end());
    if ('refused' in restored)
      throw new CliFailure(restored.unreachable ? EXIT.unreachable : EXIT.no, restored.refused);
    session.show({ text: stringifyJson(restored), result: restored }, describeRestore);
    const { open_holds: open } = restored.books;
    if (open > 0)
      session.advise(`${open} calls were under way when it was made: the next start gives their holds back.`);
    session.advise(`The books are exact. ${MASTER_KEYS}`);
    return EXIT.ok;
  },
};

function describeBackup({ file, bytes, books }: BackupView): string {
  return formatRecord([['file', file], ['bytes', String(bytes)], ...describeBooks(books)]);
}

function describeRestore({ folder, kept_in, books }: RestoreView): string {
  return formatRecord([['folder', folder], ['books before', kept_in ?? 'none'], ...describeBooks(books)]);
}

function describeBooks(books: VerifyView): [name: string, value: string][] {
  return [
    ['accounts', String(books.accounts)],
    ['keys', String(books.keys)],
    ['receipts', String(books.receipts)],
    ['credits', String(books.credits)],
    ['open holds', String(books.open_holds)],
    ['violations', String(books.violations.length)],
  ];
}
