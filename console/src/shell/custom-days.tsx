import type { ReactNode } from 'react';
import { FilterInput } from './filter-input.tsx';
import type { Search } from './search.ts';

export const DAY_SECONDS = 86_400;

/** Before any gateway ran. While somebody types 2026, the year is 2, 20 and 202 first. */
const FIRST_DAY = Date.parse('2000-01-01T00:00:00Z');

/** A date like 2026-11-15, as the time when it begins in UTC. */
export function dayOf(text: string | undefined): number | null {
  const ms = text === undefined ? Number.NaN : Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || ms < FIRST_DAY ? null : ms / 1000;
}

/** The list of requests in the same days as a report. */
export function requestsOfDays(since: number, until?: number): Search {
  const nameOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);
  return { time: 'custom', from: nameOf(since), to: until === undefined ? undefined : nameOf(until - 1) };
}

/** The first and the last day of a period that somebody chooses. */
export function CustomDays(): ReactNode {
  return (
    <>
      <FilterInput name="from" label="From" type="date" width="!w-36" />
      <span className="text-muted">to</span>
      <FilterInput name="to" label="To" type="date" width="!w-36" />
      <span className="text-muted">UTC</span>
    </>
  );
}
