import type { z } from 'zod';
import { type AccountServices, creditAccount } from '../accounts/accounts.ts';
import { ACCOUNT_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { shellWord } from '../kit/shell-words.ts';
import { type CreditResult, type Ledger, StoreUnavailable } from '../ledger/ledger.ts';
import { formatUsd } from '../money/nanousd.ts';
import type { Account, RefundRefusal } from '../store/store.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import type { accountCredit } from './input.ts';
import { accountNamed } from './lookup.ts';
import type { CreditView } from './view.ts';

export interface CreditServices extends AccountServices, ActingServices {
  readonly ledger: Pick<Ledger, 'credit'>;
}

export async function credit(services: CreditServices, input: z.output<typeof accountCredit>): Promise<CreditView> {
  const account = await accountNamed(services, input.account);
  const write = async (operation: Parameters<Ledger['credit']>[0]): Promise<CreditResult> => {
    try {
      return await services.ledger.credit(operation);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      throw creditInDoubt(error.message, { ...operation, account: input.account });
    }
  };
  const { outcome, reference } = await creditAccount(services, write, {
    accountId: account.id,
    amountNanousd: input.amount_nanousd,
    reference: input.reference,
    note: input.note,
    audit: (reference) =>
      auditRow(services, {
        action: 'account.credit',
        subject: formatId(ACCOUNT_PREFIX, account.id),
        accountId: account.id,
        after: { amount_nanousd: input.amount_nanousd, reference, note: input.note },
      }),
  });
  if (outcome.kind === 'credit_refused')
    throw new OperatorError('refused', describeRefusal(outcome, account, reference));
  return {
    object: 'credit',
    account: formatId(ACCOUNT_PREFIX, account.id),
    amount_nanousd: input.amount_nanousd,
    reference,
    repeated: outcome.kind === 'credit_repeated',
    balance_nanousd: outcome.balanceNanousd,
  };
}

/** A credit as it was sent, so that it can be repeated. */
interface SentCredit {
  /** As the operator typed it. */
  readonly account: string;
  readonly amountNanousd: bigint;
  readonly reference: string;
  readonly note: string | null;
}

/** Without an answer the credit may or may not be recorded. Repeating it is safe only with the same reference. */
export function creditInDoubt(why: string, { account, amountNanousd, reference, note }: SentCredit): OperatorError {
  const amount = formatUsd(amountNanousd);
  const words = ['tollgate accounts credit', shellWord(account), amount, '--reference', shellWord(reference)];
  if (note !== null) words.push('--note', shellWord(note));
  return new OperatorError(
    'unavailable',
    `${why} It is unknown whether $${amount} was credited to "${account}". Repeat the command with the same reference, which is credited only once.`,
    words.join(' '),
  );
}

function describeRefusal(
  { reason }: Extract<CreditResult, { kind: 'credit_refused' }>,
  account: Account,
  reference: string,
): string {
  const available = formatUsd(account.balanceNanousd - account.heldNanousd - account.reservedNanousd);
  const reasons: Record<Exclude<typeof reason, RefundRefusal>, string> = {
    zero: 'The amount is zero. Nothing was changed.',
    out_of_range: 'The balance would exceed the largest amount the ledger can hold.',
    no_account: `The account "${account.name}" no longer exists.`,
    reference_differs: `The reference "${reference}" was used before with a different amount. Nothing was changed.`,
    account_closed: `The account "${account.name}" is closed for good. Nothing was changed.`,
    exceeds_available: `Only $${available} can be removed from "${account.name}".`,
  };
  return reasons[reason as keyof typeof reasons];
}
