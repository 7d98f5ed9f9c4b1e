import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Search } from './search.ts';

interface PageLinkProps {
  /** Below `/console`. */
  readonly to: string;
  readonly search?: Search;
  readonly className?: string;
  readonly activeClassName?: string;
  readonly title?: string;
  readonly children: ReactNode;
  onClick?(): void;
}

/** A link to another page of the console. The chosen account goes along, other filters do not. */
export function PageLink({
  to,
  search = {},
  className,
  activeClassName,
  title,
  children,
  onClick,
}: PageLinkProps): ReactNode {
  return (
    <Link
      to={to}
      search={((before: Search) => ({ account: before.account, ...search })) as never}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      {...(activeClassName === undefined ? {} : { activeProps: { className: activeClassName } })}
      className={className}
      title={title}
      onClick={onClick}
    >
      {children}
    </Link>
  );
}
