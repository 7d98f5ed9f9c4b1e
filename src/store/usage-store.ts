import type { HostLosses, TimeSpan } from './host-losses.ts';
import type { Refusal, RefusalBatch, RefusalFilter, RefusalPage } from './refusals.ts';
import type { UsageQuery, UsageReport } from './usage-report.ts';

/** Reports over receipts, and refused calls. */
export interface UsageStore {
  /** Reads as of one moment, so that every receipt is counted exactly once while others are being closed. */
  report(query: UsageQuery): Promise<UsageReport>;
  /** Counts refused calls and stores the most recent ones, in one commit. */
  noteRefusals(batch: RefusalBatch): Promise<void>;
  /** Newest first. */
  listRefusals(filter: RefusalFilter, page: RefusalPage): Promise<Refusal[]>;
  /** Losses of the calls that were requested in that period, by host and reason. */
  hostLosses(span: TimeSpan): Promise<HostLosses | 'busy'>;
}
