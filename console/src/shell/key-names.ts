import { useCallback, useMemo } from 'react';
import { useApi } from '../api/queries.ts';
import { useAccountInput } from './viewer.tsx';

const KEYS_MAX = 1_000;

/** Names of keys by their ids. An id without a name is shown as it is. */
export function useKeyNames(): (id: string) => string {
  const account = useAccountInput();
  const keys = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { staleMs: 30_000 });
  const names = useMemo(() => new Map((keys.data?.data ?? []).map(({ id, name }) => [id, name])), [keys.data]);
  return useCallback((id) => names.get(id) ?? id, [names]);
}
