import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, call } from '../api/client.ts';
import { tellOtherTabsOfSignOut } from '../api/me.ts';
import { localToken } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { useNotices } from '../parts/notices.tsx';

/** Only people sign out: in local mode there is no session. */
export function SignOutButton(): ReactNode {
  const client = useQueryClient();
  const { tellFailure } = useNotices();
  if (localToken() !== null) return null;
  const signOut = async (): Promise<void> => {
    try {
      await call('POST /sign-out', {});
    } catch (error) {
      // A session that had ended already is no failure.
      if (!(error instanceof ApiError && error.status === 401))
        return tellFailure('You are still signed in. Try again.');
    }
    tellOtherTabsOfSignOut();
    client.clear();
    location.assign('/console');
  };
  return (
    <Button tone="quiet" onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
