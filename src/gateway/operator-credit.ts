import type { z } from 'zod';
import { ACCOUNT_PREFIX, type AccountServices, creditAccount } from '../accounts/accounts.ts';
import { formatId } from '../kit/ids.ts';
import type { CreditResult, Ledger } from '../ledger/ledger.ts';
import { formatUsd } from '../money/nanousd.ts';
import type { Account } from '../store/store.ts';
import { OperatorError } from './operator-error.ts';
import type { accountCredit } from './operator-input.ts';
import { accountNamed } from './operator-lookup.ts';
import type { CreditView } from './operator-view.ts';

export interface CreditServices extends AccountServices {
  readonly ledger: Pick<Ledger, 'credit'>;
}

export async function credit(services: CreditServices, input: z.output<typeof accountCredit>): Promise<CreditView> {
  const account = await accountNamed(services, input.account);
  const { outcome, reference } = await creditAccount(services, (operation) => services.ledger.credit(operation), {
    accountId: account.id,
    amountNanousd: input.amount_nanousd,
    reference: input.reference,
    note: input.note,
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

function describeRefusal(
  { reason }: Extract<CreditResult, { kind: 'credit_refused' }>,
  account: Account,
  reference: string,
): string {
  const available = formatUsd(account.balanceNanousd - account.heldNanousd);
  const reasons: Record<typeof reason, string> = {
    zero: 'The amount is zero; nothing to do.',
    out_of_range: 'The balance would be beyond what the books can hold.',
    no_account: `The account "${account.name}" is gone.`,
    reference_differs: `The reference "${reference}" was used before with another amount; nothing was changed.`,
    exceeds_available: `Only $${available} are available to take from "${account.name}".`,
  };
  return reasons[reason];
}
