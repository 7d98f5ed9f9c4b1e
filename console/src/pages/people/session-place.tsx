import type { ReactNode } from 'react';
import type { Session } from '../../api/generated/routes.ts';

export function SessionPlace({ session }: { readonly session: Pick<Session, 'address' | 'user_agent'> }): ReactNode {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="font-mono text-small">{session.address}</span>
      <span className="truncate text-small text-muted" title={session.user_agent}>
        {session.user_agent}
      </span>
    </span>
  );
}
