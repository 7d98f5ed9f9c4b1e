import { z } from 'zod';
import { hashSecret } from '../accounts/keys.ts';
import { LIMITS } from '../limits.ts';
import type { AccountRole } from '../store/people.ts';
import { notOpen } from './accept-invitation.ts';
import type { SignInServices } from './services.ts';

export const invitationChoice = z.strictObject({ secret: z.string().min(1).max(LIMITS.managementSecretCharsMax) });

/** What a link is for, so that a page asks only for what accepting it needs. */
export interface InvitationLinkView {
  readonly object: 'invitation_link';
  readonly email: string;
  readonly purpose: 'new_person' | 'existing_person' | 'new_password';
  readonly operator: boolean;
  readonly role: AccountRole | null;
  /** Only for those who could accept the link as they are: others would learn from it what accepting does not tell them. */
  readonly account_name: string | null;
  /** Whose session the browser has. */
  readonly signed_in: 'nobody' | 'this_person' | 'somebody_else';
}

/** Says no more than accepting the link would, to somebody who has its secret. */
export async function readInvitation(
  { directory, clock }: SignInServices,
  signedIn: { readonly personId: bigint } | null,
  { secret }: z.output<typeof invitationChoice>,
): Promise<InvitationLinkView> {
  const offer = await directory.findOffer(hashSecret(secret), clock.nowMs());
  if (offer === null) throw notOpen();
  const { invitation, known, accountName, mayJoin } = offer;
  const { email, isOperator, role, resetsPersonId } = invitation;
  const isThis = signedIn !== null && signedIn.personId === known?.id;
  const mayAccept = known === null || (isThis && mayJoin);
  return {
    object: 'invitation_link',
    email,
    purpose: resetsPersonId !== null ? 'new_password' : known === null ? 'new_person' : 'existing_person',
    operator: isOperator,
    role,
    account_name: mayAccept ? accountName : null,
    signed_in: isThis ? 'this_person' : signedIn === null ? 'nobody' : 'somebody_else',
  };
}
