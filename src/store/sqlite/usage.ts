import type { Clock } from '../../kit/clock.ts';
import { ReportSlots } from '../report-slots.ts';
import type { UsageStore } from '../usage-store.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { WriterVerbs } from './writer-verbs.ts';

interface UsageLinks {
  readonly scan: Link<ScannerVerbs>['call'];
  writer(): Pick<Link<WriterVerbs>, 'call'>;
}

export function sqliteUsage({ scan, writer }: UsageLinks, clock: Clock): UsageStore {
  // They run in one thread, which also reads the keys for everybody.
  const reports = new ReportSlots(clock, 1);
  return {
    report: (query) => reports.run(query.filter.accountId, () => scan('reportUsage', query)),
    noteRefusals: (batch) => writer().call('noteRefusals', clock.nowMs(), batch),
    listRefusals: (filter, page) => scan('listRefusals', filter, page),
    hostLosses: (span) => reports.run(null, () => scan('hostLosses', span)),
  };
}
