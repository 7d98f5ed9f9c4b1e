import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ApiError, call } from '../../api/client.ts';
import type { Refusal } from '../../api/generated/routes.ts';
import { useViewer } from '../../shell/viewer.tsx';

const ACCOUNTS_MAX = 20;

/**
 * A refused call in another account than the chosen one: whoever pastes its id need not know the account, as with a receipt. Null
 * if there is none.
 */
export function useRefusalElsewhere(
  requestId: string,
  { enabled }: { readonly enabled: boolean },
): UseQueryResult<Refusal | null, ApiError> {
  const { account, accounts, isOperator } = useViewer();
  const others = accounts.filter(({ id }) => id !== account?.id).slice(0, ACCOUNTS_MAX);
  const places = isOperator ? [{}] : others.map(({ id }) => ({ account: id }));
  return useQuery<Refusal | null, ApiError>({
    queryKey: ['GET /refusals', { request: requestId }, places],
    queryFn: async ({ signal }) => {
      for (const place of places) {
        const { data } = await call('GET /refusals', { ...place, request: requestId }, { signal });
        if (data[0] !== undefined) return data[0];
      }
      return null;
    },
    enabled: enabled && account !== null && accounts.length > 1,
  });
}
