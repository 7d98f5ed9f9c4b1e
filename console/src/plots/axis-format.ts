export const NANOUSD_PER_DOLLAR = 1_000_000_000n;

type Bucket = 'hour' | 'day' | 'week' | 'month';

/** Buckets begin and end in UTC, so their names are in UTC too. */
export function formatBucket(bucket: Bucket, start: number): string {
  const parts: Intl.DateTimeFormatOptions =
    bucket === 'hour'
      ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
      : bucket === 'month'
        ? { month: 'short', year: 'numeric' }
        : { month: 'short', day: 'numeric' };
  return new Intl.DateTimeFormat('en', { ...parts, timeZone: 'UTC' }).format(new Date(start * 1000));
}

/** `$4`, `$0.50`, `$0.0002`: as many decimals as the step needs. */
export function formatDollarTick(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars >= 1_000) return `$${new Intl.NumberFormat('en', { notation: 'compact' }).format(dollars)}`;
  if (Number.isInteger(dollars)) return `$${dollars}`;
  return `$${dollars.toFixed(dollars >= 0.01 ? 2 : 9).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

export function formatCountTick(count: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact' }).format(count);
}
