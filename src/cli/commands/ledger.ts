import type { Progress } from '../../operator/operator.ts';
import type { LedgerView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { formatRecord } from '../table.ts';
import { describeLoss, usd } from '../text-values.ts';

const verifyCommand: CommandSpec = {
  name: 'verify',
  summary: 'recompute every balance from the ledger entries; exits with 1 if they do not match',
  examples: ['tollgate ledger verify && echo exact'],
  async run(session) {
    const answer = await session.ask('ledger.verify', {}, { progress: sayProgress(session) });
    session.show(answer, describeReport);
    for (const violation of answer.result.violations) session.say(violation);
    session.advise(answer.result.ok ? 'The ledger is exact.' : 'THE LEDGER IS WRONG: every line above is a violation.');
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
    ['open holds', String(report.open_holds)],
    ['losses', usd(report.loss_nanousd)],
    ...report.accepted_losses.map((loss): [string, string] => ['accepted loss', describeLoss(loss)]),
    ['violations', String(report.violations.length)],
  ]);
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
