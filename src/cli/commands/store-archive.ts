import { counted } from '../../kit/counted.ts';
import type { ArchiveCheckView, ArchiveFileView, ArchiveView } from '../../operator/archive.ts';
import type { CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { ProgressLine } from '../progress.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readMoment } from '../text-values.ts';

export const archiveCommand: CommandSpec = {
  name: 'archive',
  summary: 'write old receipts to files, verify the files, and delete the receipts from the ledger',
  options: [
    ['--before <when>', 'archive receipts older than this: a date like 2027-01-31, or a duration like 400d'],
    ['--to <folder>', 'folder for the files; default: retention.archive_folder of the configuration'],
    ['--check <folder>', 'archive nothing; compare the files in this folder with the ledger'],
  ],
  examples: [
    'tollgate store archive --before 2027-01-01 --to /var/backups/receipts',
    'tollgate store archive --check /var/backups/receipts',
  ],
  run: (session, _args, options) => (options.check === undefined ? archive(session, options) : check(session, options)),
};

async function archive(session: Session, { before, to }: Options): Promise<number> {
  if (typeof before !== 'string') throw usageFailure('--before is missing. Name a date, like --before 2027-01-01.');
  const line = new ProgressLine(session);
  const input = {
    before: readMoment(before, '--before', session.composition.clock, 'ago'),
    to: typeof to === 'string' ? session.pathOf(to) : null,
  };
  const answer = await session
    .ask('store.archive', input, {
      progress: ({ rowsRead, rowsTotal }) => line.tell('writing and deleting receipts', rowsRead, rowsTotal),
    })
    .finally(() => line.end());
  session.show(answer, describeArchive);
  session.advise(answer.result.deleted === 0 ? NOTHING : DELETED);
  return EXIT.ok;
}

const NOTHING = 'There are no closed receipts that old.';
const DELETED =
  'The receipts are now in the files, which were read back and checked, and no longer in the ledger. Keep the files: the ledger keeps only their sums and hashes. "tollgate store compact" gives the disk space back.';

async function check(session: Session, { check: folder }: Options): Promise<number> {
  const line = new ProgressLine(session);
  const answer = await session
    .ask(
      'store.checkarchive',
      { folder: typeof folder === 'string' ? session.pathOf(folder) : null },
      {
        progress: ({ rowsRead, rowsTotal }) => line.tell('reading', rowsRead, rowsTotal),
      },
    )
    .finally(() => line.end());
  session.show(answer, describeCheck);
  for (const problem of answer.result.problems) session.say(problem);
  session.advise(verdictOn(answer.result));
  return answer.result.ok ? EXIT.ok : EXIT.no;
}

function verdictOn({ ok, files, problems }: ArchiveCheckView): string {
  if (!ok) return `THE ARCHIVE IS WRONG: ${counted(problems.length, 'problem')}.`;
  return files === 0
    ? 'No receipts of this ledger have been archived, so no file was looked for.'
    : 'The archive is complete.';
}

function describeArchive({ files }: ArchiveView): string {
  return files.length === 0 ? '' : formatTable(COLUMNS, files);
}

const COLUMNS = [
  { title: 'MONTH', text: (file: ArchiveFileView) => file.month },
  { title: 'RECEIPTS', align: 'right', text: (file: ArchiveFileView) => String(file.receipts) },
  { title: 'BYTES', align: 'right', text: (file: ArchiveFileView) => String(file.bytes) },
  { title: 'FILE', text: (file: ArchiveFileView) => file.file },
] as const;

function describeCheck({ folder, files, receipts, not_archived, problems }: ArchiveCheckView): string {
  return formatRecord([
    ['folder', folder],
    ['files', String(files)],
    ['receipts', String(receipts)],
    ...(not_archived === 0 ? [] : [['deleted earlier', `${counted(not_archived, 'receipt')} not archived`] as const]),
    ['problems', String(problems.length)],
  ]);
}
