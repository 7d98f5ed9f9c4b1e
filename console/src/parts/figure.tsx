import type { ReactNode } from 'react';
import { Panel } from './panel.tsx';
import { Skeleton } from './skeleton.tsx';

interface FigureProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly detail: ReactNode;
  readonly isPending?: boolean;
}

/** The figures of a page, side by side. One whose number needs more room gets it: a number over two lines is misread. */
export function FigurePanel({ children }: { readonly children: ReactNode }): ReactNode {
  return <Panel className="flex flex-wrap gap-px !bg-line">{children}</Panel>;
}

/** One large number with its name above and what it means below. */
export function Figure({ label, value, detail, isPending = false }: FigureProps): ReactNode {
  return (
    <div className="max-w-full flex-[1_1_40%] bg-panel px-4 py-4 wide:flex-[1_1_0]">
      <p className="text-small text-muted">{label}</p>
      <p className="mt-1 text-figure font-semibold whitespace-nowrap">
        {isPending ? <Skeleton className="h-6 w-28" /> : value}
      </p>
      <p className="mt-1 w-0 min-w-full text-small break-words text-muted">
        {isPending ? <Skeleton className="h-3 w-40" /> : detail}
      </p>
    </div>
  );
}
