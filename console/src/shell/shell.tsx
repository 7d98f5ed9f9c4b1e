import * as Dialog from '@radix-ui/react-dialog';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { ssoFailure } from '../pages/sign-in/sso-failure.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { PageName } from '../parts/page.tsx';
import { AwayBanner } from './away-banner.tsx';
import { PageGate } from './page-gate.tsx';
import { useFilters } from './search.ts';
import { Logo, Navigation, SidebarFoot } from './sidebar.tsx';
import { useViewer } from './viewer.tsx';

const Palette = lazy(() => import('./palette.tsx'));

/** Navigation at the left, the page at the right; below 900 px the navigation is behind a button. */
export function Shell(): ReactNode {
  const [isSearching, setSearching] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setSearching((before) => !before);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-control focus:border focus:border-line-strong focus:bg-panel focus:px-3 focus:py-2 focus:font-medium"
      >
        Skip to the page
      </a>
      <aside className="fixed inset-y-0 left-0 z-30 hidden w-54 flex-col gap-3 border-r border-line bg-bg px-3 pt-4 pb-3 wide:flex print:hidden">
        <div className="flex items-center justify-between pl-2">
          <Logo />
          <SearchButton onClick={() => setSearching(true)} />
        </div>
        <Navigation />
        <SidebarFoot />
      </aside>
      <PageName />
      <NarrowBar onSearch={() => setSearching(true)} />
      <main id="page" tabIndex={-1} className="min-h-dvh min-w-0 outline-none wide:pl-54 print:min-h-0 print:pl-0">
        <PrintedAccount />
        <AwayBanner />
        <SsoBanner />
        <AccountBanner />
        <Suspense fallback={null}>
          <PageGate />
        </Suspense>
      </main>
      {isSearching ? (
        <Suspense fallback={null}>
          <Palette onClose={() => setSearching(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** On paper there is no navigation, which says on the screen whose figures these are. */
function PrintedAccount(): ReactNode {
  const { account } = useViewer();
  return <p className="spacing-page hidden pt-2 text-muted print:block">{account?.name ?? 'All accounts'}</p>;
}

/** Somebody who is signed in wanted to link single sign-on, and it did not work. */
function SsoBanner(): ReactNode {
  const { search, change } = useFilters();
  const failure = ssoFailure(search.sso);
  if (failure === null) return null;
  return (
    <p role="alert" className="flex items-center justify-center gap-3 bg-error-soft px-4 py-2 text-error">
      {failure}
      <IconButton icon="close" label="Close" onClick={() => change({ sso: undefined }, { replace: true })} />
    </p>
  );
}

/** A link may name an account that somebody has no role in; what they see instead belongs to another one. */
function AccountBanner(): ReactNode {
  const { missingAccount, account, accounts } = useViewer();
  const { change } = useFilters();
  if (missingAccount === null) return null;
  return (
    <p role="alert" className="flex items-center justify-center gap-3 bg-warning-soft px-4 py-2 text-warning">
      <span className="min-w-0 break-words">
        There is no account “{missingAccount}”, or you have no role in it.
        {account !== null ? ` This page is about “${account.name}”.` : null}
        {account === null && accounts.length > 0 ? ' This page is about all accounts.' : null}
        {accounts.length > 1 ? ' Choose one in the navigation.' : null}
      </span>
      <IconButton icon="close" label="Close" onClick={() => change({ account: undefined }, { replace: true })} />
    </p>
  );
}

function SearchButton({ onClick }: { onClick(): void }): ReactNode {
  return (
    <button
      type="button"
      onClick={onClick}
      title="Search pages, keys, models and requests"
      className="rounded-chip border border-line-strong bg-panel px-1.5 text-head text-muted hover:bg-raised"
    >
      <span className="sr-only">Search </span>
      {/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}
    </button>
  );
}

function NarrowBar({ onSearch }: { onSearch(): void }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex h-12 items-center justify-between border-b border-line bg-bg px-4 wide:hidden print:hidden">
      <Logo />
      <div className="flex gap-1">
        <IconButton icon="search" label="Search" onClick={onSearch} />
        <Dialog.Root open={isOpen} onOpenChange={setOpen}>
          <Dialog.Trigger asChild>
            <IconButton icon="menu" label="Pages" />
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
            <Dialog.Content
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-50 flex w-64 flex-col gap-3 border-r border-line bg-bg px-3 pt-4 pb-3 outline-none"
            >
              <Dialog.Title className="sr-only">Pages</Dialog.Title>
              <div className="pl-2">
                <Logo />
              </div>
              <Navigation onNavigate={() => setOpen(false)} />
              <SidebarFoot />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
      </div>
    </header>
  );
}
