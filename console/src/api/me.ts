import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { ApiError, call } from './client.ts';
import type { Me } from './generated/routes.ts';
import { localToken } from './session.ts';

const ME = ['GET /me', {}] as const;
const CHANNEL = 'tollgate.person';

/** Null if nobody is signed in. */
type PersonId = string | null;
/** Between tabs: who was found to be signed in, or that somebody has signed out. */
type TabMessage = PersonId | { readonly isSignedOut: true };

/**
 * Who is signed in; null if nobody is. That is an answer and not an error: an error is forgotten while it is asked again, and
 * the page for signing in would lose what somebody has typed.
 */
export function useMe({ enabled }: { readonly enabled: boolean }): UseQueryResult<Me | null, ApiError> {
  return useQuery<Me | null, ApiError>({
    queryKey: ME,
    queryFn: readMe,
    // Somebody may have signed in in another tab.
    staleTime: ({ state }) => (state.data === null ? 0 : 60_000),
    refetchOnWindowFocus: 'always',
    enabled,
  });
}

/** Tells apart who is signed in. Nobody has an id in local mode, where another token is for another data folder. */
export function personIdOf(me: Me | null): PersonId {
  return me === null ? null : (me.id ?? localToken() ?? me.kind);
}

/** Asks again who is signed in when another tab has found somebody else. */
export function followPersonOfOtherTabs(client: QueryClient, onSignOut: () => void): void {
  tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data !== null && typeof data === 'object') return onSignOut();
    const known = client.getQueryData<Me | null>(ME);
    if (known !== undefined && personIdOf(known) !== data) void client.invalidateQueries({ queryKey: ME });
  };
}

const tabs = new BroadcastChannel(CHANNEL);

export function tellOtherTabsOfSignOut(): void {
  tabs.postMessage({ isSignedOut: true } satisfies TabMessage);
}

/** Whose data the client has. */
let reader: PersonId = null;

async function readMe(context: { readonly client: QueryClient; readonly signal: AbortSignal }): Promise<Me | null> {
  const { client, signal } = context;
  const me = await askWhoIsSignedIn(signal);
  const known = client.getQueryData<Me | null>(ME);
  const person = personIdOf(me);
  if (known === undefined || personIdOf(known) !== person) tabs.postMessage(person satisfies TabMessage);
  // What one person has read is not shown to the next one, not even until it is read again.
  if (person !== null && person !== reader)
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
  reader = person ?? reader;
  return me;
}

async function askWhoIsSignedIn(signal: AbortSignal): Promise<Me | null> {
  try {
    return await call('GET /me', {}, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}
