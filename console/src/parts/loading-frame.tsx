import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

/** Before it is known who looks at the console, and at which account. */
export function LoadingFrame(): ReactNode {
  return (
    <div aria-busy="true" className="spacing-page flex flex-col gap-4 py-5">
      <Skeleton className="h-6 w-48" />
      <Skeleton className="h-40 w-full" />
    </div>
  );
}
