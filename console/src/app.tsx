import { useQueryClient } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { Activity, lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { Me } from './api/generated/routes.ts';
import { personIdOf, useMe } from './api/me.ts';
import { ErrorPanel } from './parts/error-panel.tsx';
import { LoadingFrame } from './parts/loading-frame.tsx';
import { NoticesProvider } from './parts/notices.tsx';
import { AwayBanner } from './shell/away-banner.tsx';
import { Shell } from './shell/shell.tsx';
import { ViewerProvider } from './shell/viewer.tsx';

const SignInPage = lazy(() => import('./pages/sign-in/sign-in-page.tsx'));
const JoinPage = lazy(() => import('./pages/sign-in/join-page.tsx'));

/** How long the page of somebody whose session has ended waits for them. */
const KEPT_MS = 15 * 60_000;

/** People who are signed in get the shell; others get the pages for signing in. */
export function App(): ReactNode {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isJoining = path === '/join';
  const me = useMe({ enabled: !isJoining });
  return (
    <NoticesProvider>
      <Suspense fallback={null}>{isJoining ? <JoinPage /> : <Entrance me={me} />}</Suspense>
    </NoticesProvider>
  );
}

function Entrance({ me }: { readonly me: ReturnType<typeof useMe> }): ReactNode {
  const viewer = useLastViewer(me.data);
  if (me.data !== undefined)
    return (
      <>
        {me.data === null ? <SignInPage hasEnded={viewer !== null} /> : null}
        {viewer === null ? null : (
          <Activity mode={me.data === null ? 'hidden' : 'visible'}>
            {/* Somebody else gets a page of their own, without what the one before has typed or opened. */}
            <ViewerProvider key={personIdOf(viewer)} me={viewer}>
              <Shell />
            </ViewerProvider>
          </Activity>
        )}
      </>
    );
  if (me.error === null) return <LoadingFrame />;
  return (
    <>
      <AwayBanner />
      <ErrorPanel error={me.error} again={() => void me.refetch()} />
    </>
  );
}

/**
 * Who is signed in, or who was until their session ended: whoever signs in again soon goes on with what they have typed. Later
 * it is forgotten, because somebody may have ended the session of a computer that others use.
 */
function useLastViewer(me: Me | null | undefined): Me | null {
  const client = useQueryClient();
  const [last, setLast] = useState<Me | null>(null);
  if (me !== undefined && me !== null && me !== last) setLast(me);
  useEffect(() => {
    if (me !== null || last === null) return;
    const timer = setTimeout(() => {
      setLast(null);
      client.removeQueries({ type: 'inactive' });
    }, KEPT_MS);
    return () => clearTimeout(timer);
  }, [me, last, client]);
  return me ?? last;
}
