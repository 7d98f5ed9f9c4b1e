import type { UsageReading } from '../../canonical/usage.ts';

/**
 * A later reading replaces an earlier one. One that cannot be billed replaces nothing: the host's earlier counts are better than
 * an estimate, but no longer final.
 */
export function laterReading(known: UsageReading, later: UsageReading): UsageReading {
  if (later.state !== 'missing' || later.defect === undefined || known.state === 'missing') return later;
  return { state: 'partial', usage: known.usage, defect: later.defect };
}
