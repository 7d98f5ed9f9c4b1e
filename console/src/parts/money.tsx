import type { ReactNode } from 'react';
import { formatCost, formatExact, formatMoney, formatNanousd } from './money-format.ts';

interface MoneyProps {
  readonly nanousd: bigint | number | null | undefined;
  /** `cost` shows six decimals, for single calls. */
  readonly as?: 'money' | 'cost';
}

/** An amount, with every digit on hover. */
export function Money({ nanousd, as = 'money' }: MoneyProps): ReactNode {
  const text = as === 'cost' ? formatCost(nanousd) : formatMoney(nanousd);
  if (nanousd === null || nanousd === undefined) return <span className="text-muted">{text}</span>;
  return <span title={`${formatExact(nanousd)} · ${formatNanousd(nanousd)}`}>{text}</span>;
}
