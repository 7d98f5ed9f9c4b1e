import type { z } from 'zod';
import { createAccount, LOCAL_ACCOUNT_NAME } from '../accounts/accounts.ts';
import { type BalanceView, balanceView } from '../canonical/balance-view.ts';
import { ACCOUNT_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import type * as inputs from './input.ts';
import { accountNamed, afterId, keyNamed, unknownAccount } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type AccountView, accountView, type ListView, listView } from './view.ts';

export async function createNamedAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountCreation>,
): Promise<AccountView> {
  const account = await createAccount(services, input, (id) =>
    auditRow(services, {
      action: 'account.create',
      subject: formatId(ACCOUNT_PREFIX, id),
      accountId: id,
      after: input,
    }),
  );
  if (account !== 'name_taken') return accountView(account);
  throw new OperatorError('refused', `An account named "${input.name}" already exists.`, 'tollgate accounts list');
}

export async function showAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountChoice>,
): Promise<AccountView> {
  return accountView(await accountNamed(services, input.account));
}

export async function listAccounts(
  { store }: OperatorServices,
  input: z.output<typeof inputs.accountPage>,
): Promise<ListView<AccountView>> {
  const accounts = await store.listAccounts({ limit: input.limit, after: afterId(ACCOUNT_PREFIX, input.after) });
  return listView(accounts.map(accountView), input.limit);
}

/** Whoever asks for a balance also sees what is left of their own cap in the account. */
function asker({ actor }: OperatorServices): bigint | null {
  return actor.kind === 'person' ? actor.id : null;
}

export async function showBalance(
  services: OperatorServices,
  input: z.output<typeof inputs.balanceChoice>,
): Promise<BalanceView & { account: string; name: string }> {
  const key = input.key === undefined ? null : await keyNamed(services, input.key);
  const idOrName = input.account ?? (key === null ? LOCAL_ACCOUNT_NAME : formatId(ACCOUNT_PREFIX, key.accountId));
  const account = await accountNamed(services, idOrName);
  if (key !== null && key.accountId !== account.id) {
    throw new OperatorError('invalid_input', `The key ${input.key} does not belong to the account "${account.name}".`);
  }
  const balance = await services.ledger.balance(account.id, key, key === null ? asker(services) : key.personId);
  if (balance === null) throw unknownAccount(idOrName);
  const facts = { ...balance, hangups: services.hangups(balance.account) };
  return { ...balanceView(facts, key), account: formatId(ACCOUNT_PREFIX, account.id), name: account.name };
}
