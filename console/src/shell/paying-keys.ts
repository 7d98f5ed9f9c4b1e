import type { ApiError } from '../api/client.ts';
import type { ShownKey } from '../api/generated/routes.ts';
import { useRows } from '../api/queries.ts';
import { useReadOn } from '../api/read-on.ts';
import { isLocalMode } from '../snippets/gateway.ts';
import { useAccountInput, useViewer } from './viewer.tsx';

const KEYS_MAX = 1_000;

interface PayingKeys {
  readonly keys: readonly ShownKey[];
  /** In local mode calls work without a key. */
  readonly isRequired: boolean;
  readonly isPending: boolean;
  /** Why it is not known which keys there are. */
  readonly error: ApiError | null;
  again(): void;
}

/** Keys that this person may make calls with from the page: their own, and for owners and operators also keys that belong to no person. */
export function usePayingKeys(): PayingKeys {
  const account = useAccountInput();
  const { me, canManage, canHaveKeys } = useViewer();
  const found = useRows('GET /keys', { ...account, limit: KEYS_MAX }, { enabled: canHaveKeys, staleMs: 30_000 });
  const isPending = canHaveKeys && (found.isPending || found.isStale);
  const keys = (isPending ? [] : found.rows).filter(
    ({ status, person }) => status === 'active' && (person === null ? canManage : person === me.id),
  );
  // Revoked keys and those of other people stay in the list, and may fill its first page.
  const isSearching = canHaveKeys && keys.length === 0 && found.hasMore;
  const { isGivenUp, again } = useReadOn(found, isSearching);
  return {
    keys,
    isRequired: !isLocalMode(),
    isPending: isPending || (isSearching && found.error === null && !isGivenUp),
    error: keys.length === 0 ? found.error : null,
    again: found.pageCount === 0 ? found.again : again,
  };
}
