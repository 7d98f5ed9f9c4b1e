import { randomBytes } from 'node:crypto';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { Person, Session } from '../store/people.ts';
import { hashSecret } from './keys.ts';

/** The prefix makes browsers refuse it from other hosts, from subdomains and without TLS. */
export const SESSION_COOKIE = '__Host-tollgate';

const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

interface SessionSecret {
  /** For the cookie; stored nowhere. */
  readonly secret: string;
  readonly sha256Hex: string;
}

/** A new one at each sign-in: a secret that a browser already has is never reused. */
export function newSessionSecret(): SessionSecret {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, sha256Hex: hashSecret(secret) };
}

export function sessionCookie(secret: string): string {
  return hostCookie(SESSION_COOKIE, secret, LIMITS.sessionMs);
}

/** Makes the browser forget its session. */
export function endedSessionCookie(): string {
  return hostCookie(SESSION_COOKIE, '', 0);
}

/** A cookie that pages cannot read, that leaves only over TLS, and that other sites send only when they link here. */
export function hostCookie(name: string, value: string, maxAgeMs: number): string {
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
}

/** Null if the cookie is missing, or sent twice. */
export function readCookie(header: string | undefined, name: string): string | null {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0]! : null;
}

/**
 * The session of a `Cookie` header with its person; null if there is none, it has ended, or the person is disabled. A use
 * prolongs it.
 */
export async function findSession(
  cookies: string | undefined,
  { directory, clock }: { readonly directory: Directory; readonly clock: Clock },
  isUse = true,
): Promise<{ readonly session: Session; readonly person: Person } | null> {
  const secret = readCookie(cookies, SESSION_COOKIE);
  if (secret === null || !SECRET.test(secret)) return null;
  const found = await directory.findSession(hashSecret(secret));
  if (found === null || found.person.disabledMs !== null) return null;
  const { session } = found;
  const nowMs = clock.nowMs();
  if (session.expiresMs <= nowMs || session.usedMs + LIMITS.sessionIdleMs <= nowMs) return null;
  if (isUse && nowMs - session.usedMs >= LIMITS.sessionUseMs) await directory.touchSession(session.id, nowMs);
  return found;
}
