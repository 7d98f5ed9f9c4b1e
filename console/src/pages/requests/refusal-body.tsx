import type { ReactNode } from 'react';
import type { Refusal } from '../../api/generated/routes.ts';
import { StatusChip } from '../../parts/chip.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { formatFull } from '../../parts/time-format.ts';
import { useKeyNames } from '../../shell/key-names.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { keyFact, monoFact, requestFact } from './call-facts.tsx';

/** Why a call was refused, in the words that the caller got. It cost nothing and has no receipt. */
export function RefusalBody({ refusal }: { readonly refusal: Refusal }): ReactNode {
  const nameOf = useKeyNames();
  const { accounts } = useViewer();
  const account = accounts.length > 1 ? accounts.find(({ id }) => id === refusal.account)?.name : undefined;
  const { worst_nanousd: worst, available_nanousd: available } = refusal;
  const facts: readonly (Fact | null)[] = [
    requestFact(refusal.id),
    monoFact('Code', refusal.code),
    ['Model', refusal.model ?? 'not known'],
    account === undefined ? null : ['Account', account],
    keyFact(refusal.key, nameOf),
    monoFact('Route', refusal.route),
    ['Time', formatFull(refusal.created)],
    worst === null ? null : ['Could have cost', <Money key="worst" nanousd={worst} as="cost" />],
    available === null ? null : ['Was available', <Money key="available" nanousd={available} as="cost" />],
  ];
  return (
    <div className="flex flex-col gap-5">
      <p className="flex items-center gap-2">
        <StatusChip status={refusal.http_status} /> refused, nothing was charged
      </p>
      <p className="rounded-control bg-error-soft px-3 py-2 text-error">{refusal.message}</p>
      <Facts facts={facts} />
    </div>
  );
}
