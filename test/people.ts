import { mintManagementSecret } from '../src/accounts/keys.ts';
import { newSessionSecret, SESSION_COOKIE } from '../src/accounts/sessions.ts';
import { systemClock } from '../src/kit/clock.ts';
import type { Books } from '../src/main/books.ts';
import { auditRow } from '../src/operator/actor.ts';
import type { AccountRole, AuditRow, NewPerson, NewSession } from '../src/store/people.ts';

/** The address under which tests sign in: a cookie needs https. */
export const PUBLIC_URL = 'https://gateway.example';

type Place = Pick<Books, 'store' | 'ids'>;

function audit({ ids }: Place): AuditRow {
  const actor = { kind: 'command_line', id: null, name: 'test', address: null } as const;
  return auditRow({ actor, ids, clock: systemClock }, { action: 'test', subject: 'test' });
}

/** A person, without the work of hashing a password. */
export async function enrol(
  place: Place,
  email: string,
  { roles = [], ...person }: Partial<NewPerson> & { roles?: readonly (readonly [bigint, AccountRole])[] } = {},
): Promise<bigint> {
  const { directory } = place.store;
  const common = { name: email, passwordHash: null, identity: null, isOperator: false, createdMs: systemClock.nowMs() };
  const id = place.ids.next();
  await directory.createPerson({ id, email, ...common, ...person }, audit(place));
  for (const [accountId, role] of roles)
    await directory.putMembership(
      { accountId, personId: id, role, capNanousd: null, capWindow: 'lifetime' },
      audit(place),
    );
  return id;
}

/** The `Cookie` header of a session, as a browser sends it. */
export async function openSession(place: Place, personId: bigint, session: Partial<NewSession> = {}): Promise<string> {
  const { secret, sha256Hex } = newSessionSecret();
  const nowMs = systemClock.nowMs();
  const times = { createdMs: nowMs, expiresMs: nowMs + 3_600_000 };
  const { version } = (await place.store.directory.findPerson(personId))!;
  const made = { id: place.ids.next(), sha256Hex, personId, ...times, address: '', userAgent: '', ...session };
  await place.store.directory.createSession(made, version, 50, audit(place));
  return `${SESSION_COOKIE}=${secret}`;
}

/** The cookie that a response sets, as the browser sends it back. */
export function cookieOf(response: Response): string {
  const [line] = response.headers.getSetCookie().filter((each) => each.startsWith(`${SESSION_COOKIE}=`));
  if (line === undefined) throw new Error('The response sets no session.');
  return line.split(';')[0]!;
}

/** The secret of a management key with the role of a member, as earlier versions minted it. */
export async function storeMembersManagementKey(place: Place, accountId: bigint): Promise<string> {
  const { secret, ...shown } = mintManagementSecret();
  const terms = { name: 'old', mintedBy: null, accountId, role: 'member', isReadOnly: false } as const;
  const createdMs = systemClock.nowMs();
  const key = { id: place.ids.next(), ...shown, ...terms, createdMs, expiresMs: createdMs + 3_600_000 };
  await place.store.directory.createManagementKey(key, audit(place));
  return secret.reveal();
}
