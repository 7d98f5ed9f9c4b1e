import { type ReactNode, useEffect, useState } from 'react';
import { dateOf, formatAgo, formatClock, formatDay, formatFull, notAhead } from './time-format.ts';

const TICK_MS = 15_000;

/** The time in seconds; the component is rendered again a few times a minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Math.floor(Date.now() / 1000));
  useEffect(() => {
    const timer = setInterval(() => setNow(Math.floor(Date.now() / 1000)), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

interface TimeProps {
  readonly at: number | null | undefined;
  /** What is shown if there is no time. */
  readonly none?: string;
  /** Windows of caps begin and end in UTC. */
  readonly zone?: 'UTC';
  /** For what may still come, like an expiry. */
  readonly isAhead?: boolean;
}

/** A time relative to now, with the exact one on hover. */
export function Ago({ at, none = '–', zone, isAhead = false }: TimeProps): ReactNode {
  const now = useNow();
  if (at === null || at === undefined) return <span className="text-muted">{none}</span>;
  return (
    <time dateTime={dateOf(at).toISOString()} title={formatFull(at, zone)}>
      {formatAgo(isAhead ? at : notAhead(at, now), now, zone)}
    </time>
  );
}

/** The time of day, with the date as well unless it is today. */
export function Clock({ at }: { readonly at: number }): ReactNode {
  const now = new Date();
  const isToday = dateOf(at).toDateString() === now.toDateString();
  return (
    <time dateTime={dateOf(at).toISOString()} title={formatFull(at)}>
      {isToday ? formatClock(at) : `${formatDay(at, now.getTime() / 1000)}, ${formatClock(at).slice(0, 5)}`}
    </time>
  );
}
