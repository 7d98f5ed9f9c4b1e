import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../api/client.ts';
import { localToken } from '../api/session.ts';
import { Button } from '../parts/button.tsx';

/** Only people sign out: in local mode there is no session. */
export function SignOutButton(): ReactNode {
  const client = useQueryClient();
  if (localToken() !== null) return null;
  const signOut = async (): Promise<void> => {
    await call('POST /sign-out', {}).catch(() => undefined);
    client.clear();
    await client.invalidateQueries();
    location.assign('/console');
  };
  return (
    <Button tone="quiet" onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
