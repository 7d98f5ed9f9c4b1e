import { createContext, type ReactNode, use, useEffect } from 'react';
import type { Account, Me } from '../api/generated/routes.ts';
import { useRows } from '../api/queries.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { useFilters } from './search.ts';

export type Role = 'operator' | 'owner' | 'member' | 'viewer';

/** Who looks at the page, and whose account they look at. */
export interface Viewer {
  readonly me: Me;
  /** Those that were read: the first thousand, and more only if the address names a later one. */
  readonly accounts: readonly Account[];
  /** Null if an operator looks at all accounts. */
  readonly account: Account | null;
  /** The account that the address names, if there is none of that name or id for them. */
  readonly missingAccount: string | null;
  /** In the chosen account. */
  readonly role: Role;
  /** Whether they may change keys, members and the like of the account. */
  readonly canManage: boolean;
  /** Whether they may have keys, even if only their own. */
  readonly canHaveKeys: boolean;
  readonly isOperator: boolean;
}

const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = use(ViewerContext);
  if (viewer === null) throw new Error('Use this only on pages within the shell.');
  return viewer;
}

/** The account as the routes take it: operators may leave it out. */
export function useAccountInput(): { readonly account?: string } {
  const { account } = useViewer();
  return account === null ? {} : { account: account.id };
}

const ACCOUNTS_MAX = 1_000;

export function ViewerProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }): ReactNode {
  const { search } = useFilters();
  const { rows, hasMore, isPending, isLoadingMore, error, isFailed, more, again } = useRows(
    'GET /accounts',
    { limit: ACCOUNTS_MAX },
    { staleMs: 30_000 },
  );
  const viewer = viewerOf(me, rows, search.account);
  const isLookingOn = viewer.missingAccount !== null && hasMore && error === null;
  useEffect(() => {
    if (isLookingOn && !isLoadingMore && !isFailed) more();
  });
  if (error !== null) return <ErrorPanel error={error} again={again} />;
  if (isPending || isLookingOn) return null;
  return <ViewerContext value={viewer}>{children}</ViewerContext>;
}

function viewerOf(me: Me, accounts: readonly Account[], asked: string | undefined): Viewer {
  const only = accounts.length === 1 || !me.operator ? (accounts[0] ?? null) : null;
  const found = accounts.find(({ id, name }) => id === asked || name === asked);
  const account = found ?? only;
  const given = me.roles.find((each) => each.account === account?.id)?.role ?? 'viewer';
  const role = me.operator ? 'operator' : given;
  const mayWrite = !me.read_only;
  return {
    me,
    accounts,
    account,
    missingAccount: found === undefined ? (asked ?? null) : null,
    role,
    canManage: mayWrite && (role === 'operator' || role === 'owner'),
    canHaveKeys: mayWrite && role !== 'viewer',
    isOperator: me.operator,
  };
}
