import type { AccountRole } from '../accounts/principal.ts';
import type { VerbName } from '../operator/operator.ts';

/** Who may use a route: operators, whoever has at least this role in the account, or anybody who is known. */
export type Access = 'operator' | { readonly role: AccountRole } | 'anybody';

export const OWNER: Access = { role: 'owner' };
export const VIEWER: Access = { role: 'viewer' };

export interface ManageRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/manage/v1`; a part in braces is a member of the verb's input. */
  readonly path: string;
  readonly verb: VerbName | 'me' | 'own.accounts';
  readonly access: Access;
  /** Which member of the input names the account, or the key whose account counts. */
  readonly scope?: 'account' | 'key';
  /** `If-Match` may carry the version that the change was made to. */
  readonly versioned?: true;
  /** It creates something: the response has status 201 instead of 200. */
  readonly creates?: true;
  /** Members of the response, or of each row of a list, that only operators see. */
  readonly operatorMembers?: readonly string[];
  readonly summary: string;
}
