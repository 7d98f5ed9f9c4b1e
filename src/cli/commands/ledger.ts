import { counted } from '../../kit/counted.ts';
import type { Progress } from '../../operator/operator.ts';
import type { LedgerView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { formatRecord } from '../table.ts';
import { describeLoss, readMonth, usd } from '../text-values.ts';

const verifyCommand: CommandSpec = {
  name: 'verify',
  summary: 'recompute every balance and every closed month from the receipts; exits with 1 if they do not match',
  options: [
    ['--since <month>', 'recompute closed months from this one on, like 2026-05'],
    ['--no-usage', 'do not compare the usage sums with the receipts'],
  ],
  examples: ['tollgate ledger verify && echo exact', 'tollgate ledger verify --since 2026-05'],
  async run(session, _args, { since, usage }) {
    const input = { since: typeof since === 'string' ? readMonth(since, '--since') : null, usage: usage !== false };
    const answer = await session.ask('ledger.verify', input, { progress: sayProgress(session) });
    session.show(answer, describeReport);
    for (const violation of answer.result.violations) session.say(violation);
    session.advise(describeVerdict(answer.result));
    return answer.result.ok ? EXIT.ok : EXIT.no;
  },
};

export const ledgerCommands: CommandGroup = { name: 'ledger', summary: 'check the ledger', commands: [verifyCommand] };

function describeReport(report: LedgerView): string {
  return formatRecord([
    ['accounts', String(report.accounts)],
    ['keys', String(report.keys)],
    ['receipts', String(report.receipts)],
    ['credits', String(report.credits)],
    ['refunds', String(report.refunds)],
    ['open holds', String(report.open_holds)],
    ['losses', usd(report.loss_nanousd)],
    ['closed months', describeClosed(report)],
    ...(report.not_kept === 0
      ? []
      : [['not kept', `${counted(report.not_kept, 'receipt')}, archived or deleted because of age`] as const]),
    ...(report.without_tree === 0 ? [] : [['not hashed yet', counted(report.without_tree, 'closed receipt')] as const]),
    ...report.accepted_losses.map((loss): [string, string] => ['accepted loss', describeLoss(loss)]),
    ['violations', String(report.violations.length)],
  ]);
}

function describeClosed({ closed_months, closed_receipts, since }: LedgerView): string {
  const done = `${closed_months} recomputed from ${counted(closed_receipts, 'receipt')}`;
  return since === null ? done : `${done}; those before ${since} were not recomputed`;
}

function describeVerdict({ ok, since }: LedgerView): string {
  if (!ok) return 'THE LEDGER IS WRONG: every line above is a violation.';
  return since === null
    ? 'The ledger is exact.'
    : `The ledger is exact. Closed months before ${since} were not recomputed.`;
}

/** Prints a line for every tenth; a small ledger is done before the first. */
function sayProgress(session: Session): Progress {
  let saidTenths = 0;
  return ({ rowsRead, rowsTotal }) => {
    const tenths = rowsTotal === 0 ? 10 : Math.floor((rowsRead / rowsTotal) * 10);
    if (tenths <= saidTenths || tenths >= 10) return;
    saidTenths = tenths;
    session.advise(`${tenths * 10} % of ${rowsTotal} rows`);
  };
}
