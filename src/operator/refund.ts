import type { z } from 'zod';
import { creditAccount } from '../accounts/accounts.ts';
import { ACCOUNT_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { formatId } from '../kit/ids.ts';
import { shellWord } from '../kit/shell-words.ts';
import { type CreditResult, StoreUnavailable } from '../ledger/ledger.ts';
import { formatUsd } from '../money/nanousd.ts';
import { auditRow } from './actor.ts';
import type { CreditServices } from './credit.ts';
import { OperatorError } from './error.ts';
import type { receiptRefund } from './input.ts';
import { receiptNamed } from './lookup.ts';

interface RefundView {
  readonly object: 'refund';
  readonly receipt: string;
  readonly account: string;
  readonly amount_nanousd: bigint;
  readonly reference: string;
  /** A refund with this reference was made before, so nothing was changed now. */
  readonly repeated: boolean;
  readonly cost_nanousd: bigint;
  /** The total that was refunded for the receipt. */
  readonly refunded_nanousd: bigint;
  readonly balance_nanousd: bigint;
}

/** Without an amount, everything that is left of the cost. The ledger decides: what is read here is only a first guess. */
export async function refundReceipt(
  services: CreditServices,
  input: z.output<typeof receiptRefund>,
): Promise<RefundView> {
  const receipt = await receiptNamed(services, input.receipt);
  const amountNanousd = input.amount_nanousd ?? (await amountLeft(services, receipt, input.reference));
  const account = formatId(ACCOUNT_PREFIX, receipt.accountId);
  const { outcome, reference } = await creditAccount(services, (credit) => services.ledger.credit(credit), {
    accountId: receipt.accountId,
    callId: receipt.id,
    amountNanousd,
    reference: input.reference,
    note: input.note,
    audit: (reference) =>
      auditRow(services, {
        action: 'receipt.refund',
        subject: input.receipt,
        accountId: receipt.accountId,
        after: { amount_nanousd: amountNanousd, reference, note: input.note },
      }),
  }).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? refundInDoubt(error.message, input) : error;
  });
  const refunded = await refundedOf(services, receipt.id);
  if (outcome.kind === 'credit_refused') throw refusalOf(outcome, receipt, refunded, reference);
  return {
    object: 'refund',
    receipt: input.receipt,
    account,
    amount_nanousd: amountNanousd,
    reference,
    repeated: outcome.kind === 'credit_repeated',
    cost_nanousd: receipt.costNanousd,
    refunded_nanousd: refunded,
    balance_nanousd: outcome.balanceNanousd,
  };
}

/** What can still be refunded. A request that repeats a refund gets the amount of that refund. */
async function amountLeft(services: CreditServices, receipt: Receipt, reference: string | null): Promise<bigint> {
  const earlier = reference === null ? null : await services.store.findCredit(receipt.accountId, reference);
  if (earlier?.callId === receipt.id) return earlier.amountNanousd;
  return receipt.costNanousd - (await refundedOf(services, receipt.id));
}

async function refundedOf({ store }: CreditServices, id: bigint): Promise<bigint> {
  return (await store.refundsOf([id])).get(id) ?? 0n;
}

function refusalOf(
  { reason }: Extract<CreditResult, { kind: 'credit_refused' }>,
  { costNanousd, state }: Receipt,
  refundedNanousd: bigint,
  reference: string,
): OperatorError {
  const left = formatUsd(costNanousd - refundedNanousd);
  const cost = `$${formatUsd(costNanousd)}`;
  if (reason === 'not_settled' || (reason === 'zero' && costNanousd === 0n)) {
    const why = state === 'open' ? 'This call is still running.' : 'This call cost nothing.';
    return new OperatorError('refused', `${why} There is nothing to refund.`);
  }
  if (reason === 'zero') return new OperatorError('refused', `All of its cost, ${cost}, was refunded before.`);
  if (reason === 'exceeds_cost')
    return new OperatorError('refused', `This call cost ${cost}, of which $${left} can still be refunded.`);
  if (reason === 'no_receipt')
    return new OperatorError(
      'refused',
      'This receipt was archived, so the ledger can no longer check a refund of it. Credit the account instead, with the receipt in the note.',
      'tollgate accounts credit ACCOUNT USD --note RECEIPT',
    );
  if (reason === 'account_closed')
    return new OperatorError('refused', 'The account of this call is closed for good. Nothing was changed.');
  if (reason === 'reference_differs')
    return new OperatorError('refused', `The reference "${reference}" was used before for something else.`);
  return new OperatorError('refused', `The ledger refused the refund: ${reason}. Nothing was changed.`);
}

/** A refund as it was sent, so that it can be repeated. */
interface SentRefund {
  readonly receipt: string;
  readonly amount_nanousd: bigint | string | null;
  readonly reference: string | null;
  readonly note: string | null;
}

/** Without an answer the refund may or may not be recorded. Repeating it is safe only with the same reference. */
export function refundInDoubt(why: string, { receipt, amount_nanousd, reference, note }: SentRefund): OperatorError {
  const words = ['tollgate receipts refund', shellWord(receipt)];
  if (amount_nanousd !== null) words.push('--amount', formatUsd(BigInt(amount_nanousd)));
  if (reference !== null) words.push('--reference', shellWord(reference));
  if (note !== null) words.push('--note', shellWord(note));
  const message = `${why} It is unknown whether ${receipt} was refunded.`;
  return reference === null
    ? new OperatorError('unavailable', `${message} Look at its refunded_nanousd before you repeat the request.`)
    : new OperatorError('unavailable', `${message} Repeat the command with the same reference.`, words.join(' '));
}
