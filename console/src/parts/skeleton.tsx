import type { ReactNode } from 'react';

/** A placeholder of the same size as what is loading, so that nothing moves when it arrives. */
export function Skeleton({ className = 'h-4 w-24' }: { readonly className?: string }): ReactNode {
  return (
    <span
      aria-hidden
      data-skeleton
      className={`inline-block animate-[shimmer_1.4s_infinite] rounded-chip bg-raised ${className}`}
    />
  );
}
