import { type ReactNode, useEffect } from 'react';
import { useWindowTitle } from './window-title.ts';

interface PageProps {
  readonly title: string;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  /** A row of filters below the title, which stays when the page scrolls. */
  readonly filters?: ReactNode;
  /** Lets a table reach the edges. */
  readonly bleed?: boolean;
  readonly children: ReactNode;
}

/** Screen readers read a new document by themselves, but not a page that only replaces the one before. */
const PAGE_NAME_ID = 'page-name';

/** Says which page was gone to. It stays while pages come and go: a part that is new is not read. */
export function PageName(): ReactNode {
  return <p id={PAGE_NAME_ID} role="status" className="sr-only" />;
}

/** The frame of every page: its title, its actions, its filters. */
export function Page({ title, actions, filters, bleed = false, children }: PageProps): ReactNode {
  useWindowTitle('page', title);
  useEffect(() => {
    const spoken = document.getElementById(PAGE_NAME_ID);
    if (spoken !== null) spoken.textContent = title;
  }, [title]);
  return (
    <div className="flex min-h-full min-w-0 flex-col">
      <header className="spacing-page sticky top-0 z-20 print:static flex min-h-14 flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line bg-bg py-2">
        <h1 className="text-title font-semibold">{title}</h1>
        <div className="flex flex-wrap items-center gap-2">{actions}</div>
      </header>
      {filters === undefined ? null : (
        <div className="spacing-page flex flex-wrap items-center gap-2 border-b border-line py-3">{filters}</div>
      )}
      <div className={bleed ? 'min-w-0 flex-1' : 'spacing-page flex min-w-0 flex-1 flex-col gap-5 py-5'}>
        {children}
      </div>
    </div>
  );
}
