import type { Principal } from '../accounts/principal.ts';
import { ACCOUNT_PREFIX } from '../canonical/id-prefixes.ts';
import { accountPage } from '../operator/input.ts';
import { afterId } from '../operator/lookup.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { parseInput } from '../operator/parse-input.ts';
import { type AccountView, accountView, type ListView, listView } from '../operator/view.ts';

/** The accounts in which somebody has a role, in the order in which operators get all of them. */
export async function ownAccounts(
  { roles }: Principal,
  { store }: OperatorServices,
  input: unknown,
): Promise<ListView<AccountView>> {
  const { limit, after } = parseInput(accountPage, input);
  const afterAccount = afterId(ACCOUNT_PREFIX, after) ?? 0n;
  const ids = [...roles.keys()].filter((id) => id > afterAccount).sort((a, b) => (a < b ? -1 : 1));
  const accounts = await Promise.all(ids.slice(0, limit).map((id) => store.findAccount(id)));
  return listView(accounts.filter((account) => account !== null).map(accountView), limit);
}
