import { useApi } from '../api/queries.ts';
import { useViewer } from './viewer.tsx';

const MEMBERS_MAX = 1_000;

/**
 * Email addresses of the account's people by their ids. Only owners and operators may read them; others know only themselves, and
 * an operator has no role in the account. An id without a name is shown as it is.
 */
export function useMemberNames(): (id: string) => string {
  const { me, account } = useViewer();
  const isAllowed = useSeesMembers();
  const members = useApi(
    'GET /accounts/{account}/members',
    { account: account?.id ?? '', limit: MEMBERS_MAX },
    { enabled: isAllowed, staleMs: 60_000 },
  );
  const names = new Map((members.data?.data ?? []).map(({ person, email }) => [person, email]));
  return (id) => names.get(id) ?? (id === me.id ? me.name : id);
}

/** Whether they may know who the people of the chosen account are. */
export function useSeesMembers(): boolean {
  const { account, role } = useViewer();
  return account !== null && (role === 'operator' || role === 'owner');
}
