import { systemClock } from '../../src/kit/clock.ts';
import { IdSource } from '../../src/kit/ids.ts';
import type { AuditRow } from '../../src/store/people.ts';
import type { ArchiveFile } from '../../src/store/receipt-archive.ts';

/** An instance number that no gateway of a campaign reaches. */
const ids = new IdSource(systemClock, 1023);

export function archiveAudit({ name }: ArchiveFile): AuditRow {
  return {
    id: ids.next(),
    atMs: systemClock.nowMs(),
    actorKind: 'command_line',
    actorId: null,
    actorName: 'campaign',
    action: 'store.archive',
    subject: name,
    accountId: null,
    before: null,
    after: null,
    address: null,
  };
}
