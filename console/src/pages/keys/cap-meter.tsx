import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { Meter, shareOf } from '../../parts/meter.tsx';
import { Money } from '../../parts/money.tsx';
import { formatMoney } from '../../parts/money-format.ts';

/** What a key has spent of its cap in the current window. */
export function CapMeter({ shownKey }: { readonly shownKey: ShownKey }): ReactNode {
  return <SpendOfCap {...shownKey} />;
}

type CappedSpending = Pick<ShownKey, 'name' | 'spent_nanousd' | 'spend_cap_nanousd' | 'window'>;

/** The same for whatever has a cap: a key, or a person in an account. */
export function SpendOfCap({ spent_nanousd, spend_cap_nanousd, window, name }: CappedSpending): ReactNode {
  if (spend_cap_nanousd === null)
    return (
      <span>
        <Money nanousd={spent_nanousd} /> <span className="text-muted">no cap</span>
      </span>
    );
  const per = window === 'lifetime' ? '' : ` a ${window}`;
  return (
    <span className="flex flex-col-reverse gap-x-3 large:flex-row large:items-center">
      <span className="w-24 shrink-0 leading-none">
        <Meter
          part={shareOf(spent_nanousd, spend_cap_nanousd)}
          label={`${name}: ${formatMoney(spent_nanousd)} of ${formatMoney(spend_cap_nanousd)} spent`}
        />
      </span>
      <span className="wide:whitespace-nowrap">
        <Money nanousd={spent_nanousd} /> of <Money nanousd={spend_cap_nanousd} />
        <span className="text-muted">{per}</span>
      </span>
    </span>
  );
}
