import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { ApiError, call } from './client.ts';
import type { Me } from './generated/routes.ts';

/**
 * Who is signed in; null if nobody is. That is an answer and not an error: an error is forgotten while it is asked again, and
 * the page for signing in would lose what somebody has typed.
 */
export function useMe({ enabled }: { readonly enabled: boolean }): UseQueryResult<Me | null, ApiError> {
  return useQuery<Me | null, ApiError>({
    queryKey: ['GET /me', {}],
    queryFn: readMe,
    // Somebody may have signed in in another tab.
    staleTime: ({ state }) => (state.data === null ? 0 : 60_000),
    enabled,
  });
}

async function readMe({ signal }: { readonly signal: AbortSignal }): Promise<Me | null> {
  try {
    return await call('GET /me', {}, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}
