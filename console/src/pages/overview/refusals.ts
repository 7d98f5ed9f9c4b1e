import type { Refusal } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { useAccountInput } from '../../shell/viewer.tsx';
import { dayAgo } from './range.ts';

const REFUSALS_MAX = 1_000;

/** Refused calls of the last 24 hours. */
export function useRefusals(): {
  readonly rows: readonly Refusal[];
  readonly isKnown: boolean;
  readonly isComplete: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  again(): void;
} {
  const account = useAccountInput();
  const found = useApi('GET /refusals', { ...account, since: dayAgo(), limit: REFUSALS_MAX }, { refetchMs: 15_000 });
  return {
    rows: found.data?.data ?? [],
    isKnown: found.data !== undefined,
    isComplete: found.data?.next === null,
    isPending: found.isPending,
    error: found.error,
    again: () => void found.refetch(),
  };
}

export interface CodeCount {
  readonly code: string;
  readonly status: number;
  readonly count: number;
  /** Keys whose calls were refused with this code, the most frequent first. */
  readonly keys: readonly (string | null)[];
}

/** The most frequent first. */
export function countByCode(refusals: readonly Refusal[]): readonly CodeCount[] {
  const byCode = Map.groupBy(refusals, ({ code }) => code);
  const counts = [...byCode].map(([code, own]) => ({
    code,
    status: own[0]!.http_status,
    count: own.length,
    keys: [...Map.groupBy(own, ({ key }) => key)].toSorted(([, a], [, b]) => b.length - a.length).map(([key]) => key),
  }));
  return counts.toSorted((a, b) => b.count - a.count);
}
