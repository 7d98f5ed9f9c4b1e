import { useApi } from '../api/queries.ts';
import { useViewer } from './viewer.tsx';

const MEMBERS_MAX = 1_000;

/** Email addresses of the account's people by their ids. Only owners and operators may read them; others get null. */
export function useMemberNames(): ((id: string) => string) | null {
  const { account, role } = useViewer();
  const isAllowed = account !== null && (role === 'operator' || role === 'owner');
  const members = useApi(
    'GET /accounts/{account}/members',
    { account: account?.id ?? '', limit: MEMBERS_MAX },
    { enabled: isAllowed, staleMs: 60_000 },
  );
  if (!isAllowed) return null;
  const names = new Map((members.data?.data ?? []).map(({ person, email }) => [person, email]));
  return (id) => names.get(id) ?? id;
}
