import type { AuditRow } from '../people.ts';
import type { ArchiveFile } from '../receipt-archive.ts';
import { insertAudit } from './audit.ts';
import { insert, type Program, rowOf, rowsOf } from './program.ts';

interface ArchiveFileColumns {
  readonly month_ms: bigint;
  readonly number: bigint;
  readonly name: string;
  readonly first_id: bigint;
  readonly up_to: bigint;
  readonly receipts: bigint;
  readonly bytes: bigint;
  readonly manifest_sha256: string;
  readonly archived_ms: bigint;
}

/** All files, in the order of their receipts. There are few: one or two for each month. */
export function* listArchiveFiles(): Program<ArchiveFile[]> {
  const rows = yield* rowsOf<ArchiveFileColumns>('SELECT * FROM archive_file ORDER BY up_to');
  return rows.map(fileOf);
}

/** The file that has this receipt, if it was archived. */
export function* archiveFileOf(id: bigint): Program<ArchiveFile | null> {
  const row = yield* rowOf<ArchiveFileColumns>(
    'SELECT * FROM archive_file WHERE up_to >= ? ORDER BY up_to LIMIT 1',
    id,
  );
  return row === null || row.first_id > id ? null : fileOf(row);
}

/** From now on the receipts in the file may be deleted. */
export function* noteArchiveFile(file: ArchiveFile, audit: AuditRow): Program<void> {
  yield insert('archive_file', {
    month_ms: file.monthMs,
    number: file.number,
    name: file.name,
    first_id: file.firstId,
    up_to: file.upTo,
    receipts: file.receipts,
    bytes: file.bytes,
    manifest_sha256: file.manifestSha256,
    archived_ms: file.archivedMs,
  });
  yield insertAudit(audit);
}

function fileOf(row: ArchiveFileColumns): ArchiveFile {
  return {
    name: row.name,
    monthMs: Number(row.month_ms),
    number: Number(row.number),
    firstId: row.first_id,
    upTo: row.up_to,
    receipts: Number(row.receipts),
    bytes: Number(row.bytes),
    manifestSha256: row.manifest_sha256,
    archivedMs: Number(row.archived_ms),
  };
}
