import type { ReactNode } from 'react';

const NEARLY_FULL = 0.8;

interface MeterProps {
  readonly part: number;
  readonly label: string;
  /** False for a share of a whole, where a high value is not bad. */
  readonly warns?: boolean;
}

/** How much of a cap is spent: green, amber from 80 %, red when it is full. The amounts are shown beside it. */
export function Meter({ part, label, warns = true }: MeterProps): ReactNode {
  const share = Math.max(0, Math.min(1, part));
  const colour = !warns || share < NEARLY_FULL ? 'bg-accent' : share < 1 ? 'bg-warning' : 'bg-error';
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers do not let a page style the parts of <meter> alike.
    <span
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="inline-block h-[5px] w-full min-w-12 overflow-hidden rounded-full bg-raised align-middle"
    >
      <span className={`block h-full rounded-full ${colour}`} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** Exact enough for a bar, even for amounts that are too large for a number. */
export function shareOf(part: bigint, whole: bigint): number {
  return whole <= 0n ? 1 : Number((part * 10_000n) / whole) / 10_000;
}
