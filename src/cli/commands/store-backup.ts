import { stringifyJson } from '../../json/stringify.ts';
import type { BackupView, RestoreView } from '../../operator/store.ts';
import type { VerifyView } from '../../operator/view.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, usageFailure } from '../failure.ts';
import { ProgressLine } from '../progress.ts';
import { formatRecord } from '../table.ts';

const MASTER_KEYS =
  'A backup does not contain master keys. Store them separately: provider keys cannot be decrypted without them.';

export const backupCommand: CommandSpec = {
  name: 'backup <file>',
  summary: 'write the ledger of the data folder into one file, while the server runs, and verify the file',
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
      ok
        ? `The ledger in it is exact. ${MASTER_KEYS}`
        : 'THE LEDGER IN IT IS WRONG, and so is the one it was copied from.',
    );
    return ok ? EXIT.ok : EXIT.no;
  },
};

export const restoreCommand: CommandSpec = {
  name: 'restore <file>',
  summary: 'restore a backup into a data folder that no server has open',
  options: [['--force', 'replace an existing ledger, which is kept in a folder beside it']],
  examples: ['tollgate store restore /var/backups/tollgate-2027-01-31.sqlite --data ./data'],
  async run(session, [file = ''], options) {
    const { store, dataFolder: folder } = session.config('leave');
    if (store !== null) {
      throw usageFailure('A backup file can only be restored into a data folder. For PostgreSQL, use pg_restore.');
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
      session.advise(`Calls that were running when the backup was made: ${open}. The next start releases their holds.`);
    session.advise(`The ledger is exact. ${MASTER_KEYS}`);
    return EXIT.ok;
  },
};

function describeBackup({ file, bytes, books }: BackupView): string {
  return formatRecord([['file', file], ['bytes', String(bytes)], ...describeBooks(books)]);
}

function describeRestore({ folder, kept_in, books }: RestoreView): string {
  return formatRecord([['folder', folder], ['previous ledger', kept_in ?? 'none'], ...describeBooks(books)]);
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
