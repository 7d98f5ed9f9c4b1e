import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { ApiError, call } from './client.ts';

const REFUSALS = [400, 403, 404];

/**
 * Whether there is an account of that name or id for whoever asks. That there is none is an answer and not an error: an error is
 * forgotten while it is asked again, and the page would go away meanwhile.
 */
export function useAccountExists(
  account: string,
  { enabled }: { readonly enabled: boolean },
): UseQueryResult<boolean, ApiError> {
  return useQuery<boolean, ApiError>({
    queryKey: ['GET /accounts/{account}/balance', { account }, 'exists'],
    queryFn: async ({ signal }) => {
      try {
        await call('GET /accounts/{account}/balance', { account }, { signal });
        return true;
      } catch (error) {
        if (error instanceof ApiError && REFUSALS.includes(error.status)) return false;
        throw error;
      }
    },
    enabled,
    staleTime: 30_000,
  });
}
