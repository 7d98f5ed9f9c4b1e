import { INVITATION_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { auditRow } from '../operator/actor.ts';
import type { Acceptance, Accepting, Invitation, Person } from '../store/people.ts';
import { actorOf, type SignInServices, type Visitor } from './services.ts';

/** Accepts an invitation in the person's own name, as the audit shows. */
export function acceptInName(
  { directory, clock, ids }: SignInServices,
  visitor: Visitor,
  invitation: Invitation,
  person: Pick<Person, 'id' | 'email'>,
  who: Accepting = { personId: person.id },
): Promise<Acceptance> {
  const audit = auditRow(
    { actor: actorOf(person, visitor), clock, ids },
    {
      action: 'invitation.accept',
      subject: formatId(INVITATION_PREFIX, invitation.id),
      accountId: invitation.accountId,
      after: { person: formatId(PERSON_PREFIX, person.id), operator: invitation.isOperator, role: invitation.role },
    },
  );
  return directory.acceptInvitation(invitation.sha256Hex, who, clock.nowMs(), audit);
}
