import { REFUND_PREFIX } from '../../canonical/id-prefixes.ts';
import { LIMITS } from '../../limits.ts';
import { refundInDoubt } from '../../operator/refund.ts';
import type { CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { ResponseLost } from '../operator-client.ts';
import { formatRecord } from '../table.ts';
import { newReference, readNanousd, readPositive, readUsd, textOption, usd } from '../text-values.ts';

export const refundCommand: CommandSpec = {
  name: 'refund <receipt>',
  summary: 'pay back what a call cost, or a part of it, to the account',
  options: [
    ['--amount <usd>', 'amount in dollars; without it, all that is left of the cost'],
    ['--nanousd <amount>', 'the same, in nanodollars'],
    ['--reference <text>', 'refund this reference only once, however often the command runs'],
    ['--note <text>', 'note to store with the refund'],
  ],
  examples: ['tollgate receipts refund req_…', 'tollgate receipts refund req_… --amount 0.05 --note "cut off"'],
  async run(session, [receipt = ''], options) {
    const input = {
      receipt,
      amount_nanousd: readAmount(options),
      reference: textOption(options, 'reference', LIMITS.creditReferenceCharsMax) ?? newReference(REFUND_PREFIX),
      note: textOption(options, 'note', LIMITS.creditNoteCharsMax),
    };
    const answer = await session.ask('receipts.refund', input).catch((error: unknown) => {
      throw error instanceof ResponseLost ? refundInDoubt(error.message, input) : error;
    });
    session.show(answer, (refund) =>
      formatRecord([
        ['receipt', refund.receipt],
        ['refunded', usd(refund.repeated ? 0 : refund.amount_nanousd)],
        ['reference', refund.reference],
        ['cost', usd(refund.cost_nanousd)],
        ['refunded in all', usd(refund.refunded_nanousd)],
        ['balance', usd(refund.balance_nanousd)],
      ]),
    );
    if (answer.result.repeated) session.advise('A refund with this reference was made before; nothing was changed.');
    return EXIT.ok;
  },
};

function readAmount({ amount, nanousd }: Options): string | null {
  if (amount !== undefined && nanousd !== undefined) throw usageFailure('Give --amount or --nanousd, not both.');
  if (typeof amount === 'string') return readPositive(readUsd(amount, '--amount'), amount, '--amount');
  return typeof nanousd === 'string' ? readPositive(readNanousd(nanousd, '--nanousd'), nanousd, '--nanousd') : null;
}
