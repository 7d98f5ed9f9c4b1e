import type { ReactNode } from 'react';
import type { Account } from '../../api/generated/routes.ts';
import type { useApi } from '../../api/queries.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Figure, FigurePanel } from '../../parts/figure.tsx';
import { Money } from '../../parts/money.tsx';

interface BalanceFiguresProps {
  readonly balance: ReturnType<typeof useApi<'GET /accounts/{account}/balance'>>;
  readonly account: Account;
}

export function BalanceFigures({ balance, account }: BalanceFiguresProps): ReactNode {
  if (balance.error !== null) return <ErrorPanel error={balance.error} again={() => void balance.refetch()} />;
  const now = balance.data;
  const isPending = now === undefined;
  const person = now?.person;
  const cap = person?.spend_cap_nanousd ?? null;
  return (
    <FigurePanel>
      <Figure
        label="Available"
        isPending={isPending}
        value={now?.unlimited === true ? 'No limit' : <Money nanousd={now?.available_nanousd} />}
        detail={account.status === 'active' ? 'for new calls' : `the account is ${account.status}`}
      />
      <Figure
        label="Balance"
        isPending={isPending}
        value={<Money nanousd={now?.balance_nanousd} />}
        detail="credits and refunds less charges"
      />
      <Figure
        label="Held"
        isPending={isPending}
        value={<Money nanousd={now?.held_nanousd} />}
        detail={
          now === undefined || now.reserved_nanousd === 0n ? (
            'by running calls, until they end'
          ) : (
            <>
              by running calls · <Money nanousd={now.reserved_nanousd} /> reserved for jobs
            </>
          )
        }
      />
      <Figure
        label="Spent in total"
        isPending={isPending}
        value={<Money nanousd={now?.spent_nanousd} />}
        detail="since the account was created"
      />
      {person === undefined || cap === null ? null : (
        <Figure
          label="Your own cap"
          value={<Money nanousd={person.remaining_nanousd} />}
          detail={
            <>
              left of <Money nanousd={cap} />
              {person.window === 'lifetime' ? '' : ` a ${person.window}`}
            </>
          }
        />
      )}
    </FigurePanel>
  );
}
