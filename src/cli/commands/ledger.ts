import type { Progress } from '../../operator/operator.ts';
import type { VerifyView } from '../../operator/view.ts';
import { EXIT } from '../exit-codes.ts';
import type { Branch, Leaf } from '../leaf.ts';
import type { Session } from '../session.ts';
import { formatRecord } from '../table.ts';
import { usd } from '../words.ts';

const verifyLeaf: Leaf = {
  name: 'verify',
  summary: 'recompute the books from every entry; the exit code is 1 if they do not balance',
  examples: ['tollgate ledger verify && echo exact'],
  async run(session) {
    const answer = await session.ask('ledger.verify', {}, { progress: sayProgress(session) });
    session.show(answer, describeReport);
    for (const violation of answer.result.violations) session.say(violation);
    session.advise(
      answer.result.ok ? 'The books are exact.' : 'THE BOOKS ARE WRONG: every sentence above is a violation.',
    );
    return answer.result.ok ? EXIT.ok : EXIT.no;
  },
};

export const ledgerBranch: Branch = { name: 'ledger', summary: 'the books themselves', leaves: [verifyLeaf] };

function describeReport(report: VerifyView): string {
  return formatRecord([
    ['accounts', String(report.accounts)],
    ['keys', String(report.keys)],
    ['receipts', String(report.receipts)],
    ['credits', String(report.credits)],
    ['open holds', String(report.open_holds)],
    ['losses', usd(report.loss_nanousd)],
    ['violations', String(report.violations.length)],
  ]);
}

/** A line at every tenth of the way; small books are done before the first one. */
function sayProgress(session: Session): Progress {
  let saidTenths = 0;
  return ({ rowsRead, rowsTotal }) => {
    const tenths = rowsTotal === 0 ? 10 : Math.floor((rowsRead / rowsTotal) * 10);
    if (tenths <= saidTenths || tenths >= 10) return;
    saidTenths = tenths;
    session.advise(`${tenths * 10} % of ${rowsTotal} rows`);
  };
}
