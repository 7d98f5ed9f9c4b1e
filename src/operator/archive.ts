import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { type ArchiveFile, ArchiveRefused } from '../store/receipt-archive.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import type { OperatorServices, Progress } from './services.ts';

const folder = z.string().max(LIMITS.filePathCharsMax).refine(isAbsolute, 'must be an absolute path');

export const archiveInput = z.strictObject({
  /** In seconds since 1970. */
  before: z.int().min(0),
  /** Null: the folder in the configuration. */
  to: folder.nullable().default(null),
});

export const archivePlace = z.strictObject({ folder: folder.nullable().default(null) });

export interface ArchiveFileView {
  readonly file: string;
  readonly month: string;
  readonly receipts: number;
  readonly bytes: number;
}

export interface ArchiveView {
  readonly object: 'store_archive';
  readonly folder: string;
  readonly files: readonly ArchiveFileView[];
  /** Receipts that were deleted from the ledger. */
  readonly deleted: number;
}

export interface ArchiveCheckView {
  readonly object: 'store_archive_check';
  readonly folder: string;
  readonly ok: boolean;
  readonly files: number;
  readonly receipts: number;
  /** Receipts of archived months that had been deleted before, without being archived. */
  readonly not_archived: number;
  readonly problems: readonly string[];
}

/** The process that has the store open writes the files: the server, if one runs. */
export async function archiveStore(
  services: OperatorServices,
  { before, to }: z.output<typeof archiveInput>,
  progress?: Progress,
): Promise<ArchiveView> {
  const place = placeOf(services, to);
  const report = await refusable(() =>
    services.store.archive.run({
      folder: place,
      beforeMs: before * 1000,
      clock: services.clock,
      audit: (file) => auditOf(services, file),
      ...(progress && { progress }),
    }),
  );
  return { object: 'store_archive', folder: place, files: report.files.map(fileView), deleted: report.forgotten };
}

export async function checkStoreArchive(
  services: OperatorServices,
  { folder: named }: z.output<typeof archivePlace>,
  progress?: Progress,
): Promise<ArchiveCheckView> {
  const place = placeOf(services, named);
  const { files, receipts, notArchived, problems } = await services.store.archive.check(place, progress);
  const ok = problems.length === 0;
  return { object: 'store_archive_check', folder: place, ok, files, receipts, not_archived: notArchived, problems };
}

/** For the server's own retention. */
export function auditOf(services: ActingServices, file: ArchiveFile): ReturnType<typeof auditRow> {
  return auditRow(services, { action: 'store.archive', subject: file.name, after: fileView(file) });
}

function placeOf({ archiveFolder = null }: OperatorServices, named: string | null): string {
  const place = named ?? archiveFolder;
  if (place !== null) return place;
  throw new OperatorError(
    'invalid_input',
    'No folder is named. Give one, or set retention.archive_folder in the configuration.',
  );
}

async function refusable<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ArchiveRefused) throw new OperatorError('refused', error.message);
    throw error;
  }
}

function fileView({ name, monthMs, receipts, bytes }: ArchiveFile): ArchiveFileView {
  return { file: `${name}.jsonl.gz`, month: new Date(monthMs).toISOString().slice(0, 7), receipts, bytes };
}
