import type { ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';

/** For operators: gateways that share a database may be several, and whichever answers tells what it has seen itself. */
export function ReplicaNote({ children }: { readonly children: ReactNode }): ReactNode {
  const system = useApi('GET /system', {}, { staleMs: 60_000 });
  if (system.data?.settings.store !== 'postgres') return null;
  return <p className="text-small text-muted">{children}</p>;
}
