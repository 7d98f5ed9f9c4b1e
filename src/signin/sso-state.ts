import { hash, randomBytes } from 'node:crypto';
import { hostCookie, readCookie } from '../accounts/sessions.ts';
import { LIMITS } from '../limits.ts';

/** Beside the session's cookie, and only until the provider sends the browser back. */
const SSO_COOKIE = '__Host-tollgate-sso';

/** What the provider is given, and what its answer must match. */
export interface SsoState {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly startedMs: number;
  /** The person who links an identity; null for signing in. */
  readonly linkPersonId: bigint | null;
}

const COOKIE = /^([A-Za-z0-9_-]{43})\.(\d{1,15})\.(\d{1,19})$/;

/**
 * The browser keeps a random seed, and state, nonce and verifier follow from it. So an answer of the provider is valid
 * only in the browser that began, on any process, and nothing is stored for strangers who begin and never return. Time
 * and person are hashed too: changing them in the cookie changes the state.
 */
export function beginSso(nowMs: number, linkPersonId: bigint | null): { state: SsoState; cookie: string } {
  const seed = randomBytes(32).toString('base64url');
  const value = `${seed}.${nowMs}.${linkPersonId ?? 0n}`;
  return { state: stateOf(value)!, cookie: hostCookie(SSO_COOKIE, value, LIMITS.ssoMs) };
}

/** Null if the browser has not begun, or too long ago. */
export function readSsoState(cookies: string | undefined, nowMs: number): SsoState | null {
  const state = stateOf(readCookie(cookies, SSO_COOKIE) ?? '');
  if (state === null) return null;
  const ageMs = nowMs - state.startedMs;
  // Another process may have begun, with a clock that is ahead.
  return ageMs >= -LIMITS.ssoSkewMs && ageMs < LIMITS.ssoMs ? state : null;
}

export function endedSsoCookie(): string {
  return hostCookie(SSO_COOKIE, '', 0);
}

function stateOf(value: string): SsoState | null {
  const [, , startedMs, personId] = COOKIE.exec(value) ?? [];
  if (startedMs === undefined || personId === undefined) return null;
  const derived = (label: string): string => hash('sha256', `${label} ${value}`, 'base64url');
  return {
    state: derived('state'),
    nonce: derived('nonce'),
    codeVerifier: derived('verifier'),
    startedMs: Number(startedMs),
    linkPersonId: personId === '0' ? null : BigInt(personId),
  };
}
