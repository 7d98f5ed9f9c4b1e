import { useRouterState } from '@tanstack/react-router';
import { Activity, lazy, type ReactNode, Suspense, useState } from 'react';
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
  const [last, setLast] = useState<Me | null>(null);
  if (me.data !== undefined && me.data !== null && me.data !== last) setLast(me.data);
  const viewer = me.data ?? last;
  if (viewer !== null && me.data !== undefined)
    return (
      <>
        {me.data === null ? <SignInPage hasEnded /> : null}
        {/* A session that ends takes nothing with it: whoever signs in again goes on with what they have typed. */}
        <Activity mode={me.data === null ? 'hidden' : 'visible'}>
          {/* Somebody else gets a page of their own, without what the one before has typed or opened. */}
          <ViewerProvider key={personIdOf(viewer)} me={viewer}>
            <Shell />
          </ViewerProvider>
        </Activity>
      </>
    );
  if (me.data === null) return <SignInPage />;
  if (me.error === null) return <LoadingFrame />;
  return (
    <>
      <AwayBanner />
      <ErrorPanel error={me.error} again={() => void me.refetch()} />
    </>
  );
}
