import { createContext, type ReactNode, use } from 'react';
import { useAccountExists } from '../api/account-exists.ts';
import type { Account, Me } from '../api/generated/routes.ts';
import { useRows } from '../api/queries.ts';
import { useReadOn } from '../api/read-on.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { LoadingFrame } from '../parts/loading-frame.tsx';
import { AwayBanner } from './away-banner.tsx';
import { useFilters } from './search.ts';

export type Role = 'operator' | 'owner' | 'member' | 'viewer';

/** Who looks at the page, and whose account they look at. */
export interface Viewer {
  readonly me: Me;
  /** Those that were read: the first thousand, and more only if the address names a later one. */
  readonly accounts: readonly Account[];
  /** Whether there are accounts that were not read. */
  readonly hasMoreAccounts: boolean;
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
const UNREAD_ACCOUNTS = new Error(
  'The account is not among the first that were read, and the next ones could not be read.',
);

export function ViewerProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }): ReactNode {
  const { search } = useFilters();
  const pages = useRows('GET /accounts', { limit: ACCOUNTS_MAX }, { staleMs: 30_000 });
  const { rows, hasMore, isPending, error, again } = pages;
  const viewer = { ...viewerOf(me, rows, search.account), hasMoreAccounts: hasMore };
  const isNotRead = viewer.missingAccount !== null && hasMore;
  // A name with a typo is no reason to read all accounts.
  const named = useAccountExists(viewer.missingAccount ?? '', { enabled: isNotRead });
  const isLookingOn = isNotRead && named.data !== false;
  const readingOn = useReadOn(pages, isLookingOn && named.data === true);
  if (error !== null) return <ErrorPanel error={error} again={again} />;
  if (isPending) return <LoadingFrame />;
  if (isLookingOn && named.error?.isAway === false)
    return <ErrorPanel error={named.error} again={() => void named.refetch()} />;
  if (readingOn.isGivenUp) return <ErrorPanel error={UNREAD_ACCOUNTS} again={readingOn.again} />;
  if (isLookingOn) return <LookingForAccount />;
  return <ViewerContext value={viewer}>{children}</ViewerContext>;
}

/** Outside of the shell, so it has the banner of its own that goes on when the gateway is back. */
function LookingForAccount(): ReactNode {
  return (
    <>
      <AwayBanner />
      <LoadingFrame />
    </>
  );
}

function viewerOf(me: Me, accounts: readonly Account[], asked: string | undefined): Omit<Viewer, 'hasMoreAccounts'> {
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
