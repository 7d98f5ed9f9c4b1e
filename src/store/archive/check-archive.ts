import { join } from 'node:path';
import { MONTH_PART, monthName } from '../month-tree.ts';
import type { ArchiveCheck, ArchiveFile } from '../receipt-archive.ts';
import type { VerifyProgress } from '../verify-report.ts';
import type { ArchiveEngine } from './archive-engine.ts';
import { DATA_SUFFIX, MANIFEST_SUFFIX } from './archive-file.ts';
import type { FileToCheck } from './check-file.ts';
import { checkMonths } from './check-months.ts';

/** Reads every file of the archive, and compares the receipts with the trees of their months in the ledger. */
export async function checkArchive(
  engine: ArchiveEngine,
  folder: string,
  progress: (done: VerifyProgress) => void = () => undefined,
): Promise<ArchiveCheck> {
  const files = await engine.directory.listArchiveFiles();
  const check = { files: files.length, receipts: 0, notArchived: 0, problems: [] as string[] };
  const rowsTotal = files.reduce((sum, file) => sum + file.receipts, 0);
  const months = [...Map.groupBy(files, (file) => file.monthMs).values()];
  const paths = months.map((ofMonth) => filesIn(folder, ofMonth));
  const found = await checkMonths(paths, engine.inThread, (at) => {
    const read = months.slice(0, at + 1).flat();
    progress({ rowsRead: read.reduce((sum, file) => sum + file.receipts, 0), rowsTotal });
  });
  for (const [at, { problems, receipts, before, digest }] of found.entries()) {
    const wrong = digest === null ? problems : await wrongTrees(engine, months[at]!, digest);
    check.receipts += receipts;
    check.notArchived += before;
    check.problems.push(...wrong);
  }
  return check;
}

export function filesIn(folder: string, files: readonly ArchiveFile[]): FileToCheck[] {
  return files.map(({ name, manifestSha256 }) => {
    const path = join(folder, name);
    return { name, data: path + DATA_SUFFIX, manifest: path + MANIFEST_SUFFIX, manifestSha256 };
  });
}

async function wrongTrees(engine: ArchiveEngine, files: readonly ArchiveFile[], digest: string): Promise<string[]> {
  const { monthMs, upTo } = files.at(-1)!;
  const oldest = await engine.oldestMonth();
  const isLeft = oldest?.monthMs === monthMs;
  // Not all receipts of the last file are deleted yet, so that the ledger has no tree over exactly those.
  if (isLeft && oldest.after < upTo) return [];
  if (digest === (await engine.digest(monthMs, isLeft ? MONTH_PART.deleted : MONTH_PART.closed))) return [];
  return [`Month ${monthName(monthMs)}: the receipts in its files are not those that were deleted from the ledger.`];
}
