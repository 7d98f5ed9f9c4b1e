import type { ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { Figure, FigurePanel } from '../../parts/figure.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount, formatCounted } from '../../parts/money-format.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { startOfDay, startOfMonth } from './range.ts';
import { countByCode, useRefusals } from './refusals.ts';

/** Four figures that answer: how much is left, how fast it goes, what does not work. */
export function Figures(): ReactNode {
  return (
    <FigurePanel>
      <AvailableFigure />
      <TodayFigure />
      <MonthFigure />
      <RefusedFigure />
    </FigurePanel>
  );
}

function AvailableFigure(): ReactNode {
  const { account, accounts, hasMoreAccounts } = useViewer();
  const balance = useApi(
    'GET /accounts/{account}/balance',
    { account: account?.id ?? '' },
    { enabled: account !== null, refetchMs: 15_000 },
  );
  if (account === null) {
    const held = accounts.reduce((sum, each) => sum + each.held_nanousd, 0n);
    const prepaid = accounts.filter(({ kind }) => kind === 'prepaid');
    const available = prepaid.reduce((sum, each) => sum + each.available_nanousd, 0n);
    return (
      <Figure
        label={`Available in ${hasMoreAccounts ? 'the first ' : ''}${formatCounted(prepaid.length, 'prepaid account')}`}
        value={<Money nanousd={available} />}
        detail={
          <>
            <Money nanousd={held} /> held by running calls
          </>
        }
      />
    );
  }
  const now = balance.data;
  const detail = (
    <>
      <Money nanousd={now?.balance_nanousd} /> balance · <Money nanousd={now?.held_nanousd} /> held
    </>
  );
  if (now?.unlimited === true)
    return (
      <Figure
        label="Spent so far"
        value={<Money nanousd={now.spent_nanousd} />}
        detail={
          <>
            No limit · <Money nanousd={now.held_nanousd} /> held
          </>
        }
      />
    );
  return (
    <Figure
      label="Available"
      isPending={balance.isPending}
      value={<Money nanousd={now?.available_nanousd} />}
      detail={detail}
    />
  );
}

function TodayFigure(): ReactNode {
  const account = useAccountInput();
  const metrics = 'cost,requests';
  const today = useApi('GET /usage', { ...account, since: startOfDay(), metrics }, { refetchMs: 15_000 });
  const yesterday = useApi('GET /usage', { ...account, since: startOfDay(1), until: startOfDay(), metrics });
  return (
    <Figure
      label="Spent today (UTC)"
      isPending={today.isPending}
      value={<Money nanousd={today.data?.totals.cost_nanousd} />}
      detail={
        <>
          {formatCounted(today.data?.totals.requests, 'request')} · yesterday{' '}
          <Money nanousd={yesterday.data?.totals.cost_nanousd} />
        </>
      }
    />
  );
}

function MonthFigure(): ReactNode {
  const account = useAccountInput();
  const input = { ...account, since: startOfMonth(), metrics: 'cost,requests,refunds' };
  const month = useApi('GET /usage', input, { refetchMs: 60_500 });
  const name = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(new Date());
  const refunded = month.data?.totals.refunded_nanousd ?? 0n;
  return (
    <Figure
      label={`Spent in ${name}`}
      isPending={month.isPending}
      value={<Money nanousd={month.data?.totals.cost_nanousd} />}
      detail={
        <>
          {formatCounted(month.data?.totals.requests, 'request')}
          {refunded === 0n ? null : (
            <>
              {' '}
              · <Money nanousd={refunded} /> refunded
            </>
          )}
        </>
      }
    />
  );
}

function RefusedFigure(): ReactNode {
  const { rows, isKnown, isComplete, isPending } = useRefusals();
  const codes = countByCode(rows).slice(0, 3);
  if (!isKnown && !isPending) return <Figure label="Refused, last 24 h" value="–" detail="Not known now" />;
  return (
    <Figure
      label="Refused, last 24 h"
      isPending={isPending}
      value={
        <PageLink to="/requests" search={{ show: 'refused', time: '24h' }} className="hover:underline">
          {isComplete ? formatCount(rows.length) : `${formatCount(rows.length)}+`}
        </PageLink>
      }
      detail={
        codes.length === 0
          ? 'No call was refused'
          : codes.map(({ code, count }) => `${count} ${code.replaceAll('_', ' ')}`).join(' · ')
      }
    />
  );
}
