import type { AccountRole, Principal } from '../accounts/principal.ts';
import { ACCOUNT_PREFIX, MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import type { Actor } from '../operator/actor.ts';

export interface MeView {
  readonly object: 'me';
  readonly kind: Actor['kind'];
  /** The id of the person or of the management key; null for the token of local mode. */
  readonly id: string | null;
  readonly name: string;
  readonly operator: boolean;
  readonly read_only: boolean;
  readonly roles: readonly { readonly account: string; readonly role: AccountRole }[];
}

export function meView({ actor, isOperator, roles, isReadOnly }: Principal): MeView {
  return {
    object: 'me',
    kind: actor.kind,
    id: idOf(actor),
    name: actor.name,
    operator: isOperator,
    read_only: isReadOnly,
    roles: [...roles].map(([accountId, role]) => ({ account: formatId(ACCOUNT_PREFIX, accountId), role })),
  };
}

function idOf({ kind, id }: Actor): string | null {
  if (id === null) return null;
  return formatId(kind === 'management_key' ? MANAGEMENT_KEY_PREFIX : PERSON_PREFIX, id);
}
