import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { call } from '../api/client.ts';
import { serverStatus } from '../api/server-status.ts';

const ASK_MS = 2_000;

/** Says that the gateway cannot be reached, asks until it can, and then reads everything on the page again. */
export function AwayBanner(): ReactNode {
  const client = useQueryClient();
  const isAway = useSyncExternalStore(serverStatus.subscribe, () => serverStatus.isAway);
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => {
      // A refusal is an answer too: the gateway is back.
      call('GET /me', {}).catch(() => undefined);
    }, ASK_MS);
    return () => {
      clearInterval(timer);
      void client.invalidateQueries();
    };
  }, [isAway, client]);
  if (!isAway) return null;
  return (
    <p
      role="alert"
      className="sticky top-12 z-20 bg-warning-soft px-4 py-2 text-center text-warning wide:top-0 wide:z-30"
    >
      The gateway cannot be reached. This page goes on by itself when it is back.
    </p>
  );
}
