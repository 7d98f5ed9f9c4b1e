import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly detail: ReactNode;
  readonly isPending?: boolean;
}

/** One large number with its name above and what it means below. */
export function Figure({ label, value, detail, isPending = false }: FigureProps): ReactNode {
  return (
    <div className="min-w-0 bg-panel px-4 py-4">
      <p className="text-small text-muted">{label}</p>
      <p className="mt-1 text-figure font-semibold break-words">
        {isPending ? <Skeleton className="h-6 w-28" /> : value}
      </p>
      <p className="mt-1 text-small break-words text-muted">{isPending ? <Skeleton className="h-3 w-40" /> : detail}</p>
    </div>
  );
}
