import type { ReactNode } from 'react';

interface ProgressBarProps {
  /** What goes on, for screen readers. */
  readonly label: string;
  /** From 0 to 1. */
  readonly part: number;
  readonly detail: string;
}

/** The progress of a long operation. */
export function ProgressBar({ label, part, detail }: ProgressBarProps): ReactNode {
  // Not rounded up: 100 % is shown only at the end.
  const percent = Math.floor(Math.max(0, Math.min(1, part)) * 100);
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex justify-between text-muted">
        <span>{detail}</span>
        <span>{percent} %</span>
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
