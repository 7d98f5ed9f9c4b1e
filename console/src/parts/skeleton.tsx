import type { ReactNode } from 'react';

/** Stands where something will be, in its size, so that nothing moves when it comes. */
export function Skeleton({ className = 'h-4 w-24' }: { readonly className?: string }): ReactNode {
  return (
    <span
      aria-hidden
      data-skeleton
      className={`inline-block animate-[shimmer_1.4s_infinite] rounded-chip bg-raised ${className}`}
    />
  );
}
