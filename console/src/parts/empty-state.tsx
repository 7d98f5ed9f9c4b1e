import type { ReactNode } from 'react';

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Says what would be here, and how it gets here. */
export function EmptyState({ title, children, action }: EmptyStateProps): ReactNode {
  return (
    <div className="mx-auto flex w-full max-w-md flex-col items-center gap-2 px-6 py-14 text-center">
      <p className="max-w-full text-title font-semibold wrap-anywhere">{title}</p>
      {children === undefined ? null : <div className="text-muted">{children}</div>}
      {action === undefined ? null : <div className="mt-2 flex max-w-full gap-2">{action}</div>}
    </div>
  );
}
