import type { ApiError } from '../api/client.ts';
import type { ShownKey } from '../api/generated/routes.ts';
import { useApi } from '../api/queries.ts';
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
  const found = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { enabled: canHaveKeys, staleMs: 30_000 });
  const keys = (found.data?.data ?? []).filter(
    ({ status, person }) => status === 'active' && (person === null ? canManage : person === me.id),
  );
  return {
    keys,
    isRequired: !isLocalMode(),
    isPending: canHaveKeys && found.isPending,
    error: found.data === undefined ? found.error : null,
    again: () => void found.refetch(),
  };
}
