import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from '../parts/icon-button.tsx';
import { Menu } from '../parts/menu.tsx';
import { AccountSwitcher } from './account-switcher.tsx';
import { PageLink } from './page-link.tsx';
import { GROUPS, pagesFor } from './pages.ts';
import { SignOutButton } from './sign-out.tsx';
import { type Theme, useTheme } from './theme.ts';
import { useViewer } from './viewer.tsx';

export function Logo(): ReactNode {
  return (
    <span className="flex items-center gap-2.5 text-title font-semibold">
      <span aria-hidden className="size-[18px] rounded-chip bg-accent" />
      Tollgate
    </span>
  );
}

/** The navigation: only pages that the role has. */
export function Navigation({ onNavigate }: { onNavigate?(): void }): ReactNode {
  const pages = pagesFor(useViewer());
  const navigation = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // In a low window the link of the current page may be out of sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another link.
  useEffect(() => {
    const frame = navigation.current;
    const link = frame?.querySelector('[aria-current="page"]');
    if (frame != null && link != null) scrollTo(frame, link);
  }, [path]);
  return (
    <nav ref={navigation} aria-label="Pages" className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      {GROUPS.map(({ id, label }) => {
        const own = pages.filter(({ group }) => group === id);
        if (own.length === 0) return null;
        return (
          <div key={id} className="flex flex-col gap-0.5">
            {label === null ? null : <p className="px-2 pt-4 pb-1 text-head text-muted">{label}</p>}
            {own.map(({ path, label: name, Badge }) => (
              <PageLink
                key={path}
                to={path}
                {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
                className="flex items-center justify-between rounded-control px-2 py-1.5 font-medium text-muted hover:bg-raised hover:text-text"
                activeClassName="bg-raised !text-text"
              >
                {name}
                {Badge === undefined ? null : <Badge />}
              </PageLink>
            ))}
          </div>
        );
      })}
    </nav>
  );
}

/** Not by `scrollIntoView`: the Tab key would go on from there, past the link that skips the navigation. */
function scrollTo(frame: Element, link: Element): void {
  const [seen, wanted] = [frame.getBoundingClientRect(), link.getBoundingClientRect()];
  frame.scrollTop += Math.min(0, wanted.top - seen.top) + Math.max(0, wanted.bottom - seen.bottom);
}

export function SidebarFoot(): ReactNode {
  const { me } = useViewer();
  return (
    <div className="flex flex-col gap-2">
      <AccountSwitcher />
      <div className="flex items-center justify-between gap-1 pl-2">
        <span className="min-w-0 flex-1 truncate text-small text-muted" title={me.name}>
          {me.kind === 'person' ? (
            <PageLink to="/profile" className="hover:text-text hover:underline">
              {me.name}
            </PageLink>
          ) : (
            'This machine'
          )}
        </span>
        <SignOutButton />
        <ThemeMenu />
      </div>
    </div>
  );
}

const THEMES: readonly { readonly value: Theme; readonly label: string; readonly icon: 'screen' | 'sun' | 'moon' }[] = [
  { value: 'system', label: 'Same as the system', icon: 'screen' },
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
];

function ThemeMenu(): ReactNode {
  const [theme, setTheme] = useTheme();
  const current = THEMES.find(({ value }) => value === theme) ?? THEMES[0]!;
  return (
    <Menu
      trigger={<IconButton icon={current.icon} label="Colours" />}
      items={THEMES.map(({ value, label }) => ({ label, checked: value === theme, onSelect: () => setTheme(value) }))}
    />
  );
}
