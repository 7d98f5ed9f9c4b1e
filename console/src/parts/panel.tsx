import type { ReactNode } from 'react';

interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A box with a one-pixel line around it. */
export function Panel({ title, actions, children, className = '' }: PanelProps): ReactNode {
  return (
    <section className={`min-w-0 overflow-hidden rounded-panel border border-line bg-panel ${className}`}>
      {title === undefined ? null : (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-2 px-4 py-2">
          <h2 className="text-body font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}
